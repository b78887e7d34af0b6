import { AppError } from "../../protocol/errors.ts";
import type { Call } from "../program/command.ts";
import { packageVersion } from "../version.ts";
import { agentServices } from "../wiring/agents.ts";
import { buildHost } from "../wiring/build-host.ts";
import { runUntilStopped } from "../wiring/run-until-stopped.ts";
import { deliveryPart } from "../wiring/start-deliveries.ts";
import { startOtlp } from "../wiring/start-otlp.ts";
import { workOn } from "../wiring/start-worker.ts";
import { describeDatabase, openStore } from "./database.ts";

/** Executes runs and answers nothing. */
export async function worker(call: Call): Promise<number> {
  const { config, io, json } = call;
  if (config.databaseUrl === undefined) {
    const problem =
      "a worker of its own needs --database-url: a SQLite file belongs to one process, and `assay serve` works in it";
    throw new AppError("unusable_input", { problem });
  }
  return runUntilStopped(call, async ({ log }, shutdown, scrubber) => {
    const store = await openStore(config);
    shutdown.add("store", () => store.close());
    const services = agentServices(store, config, scrubber);
    shutdown.add("tools", () => services.tools.close());
    const host = await buildHost(store, config, scrubber, services);
    deliveryPart(host, config, log, shutdown).start("");
    workOn(host, config, log, shutdown);
    startOtlp(host, config, log, shutdown);
    const database = describeDatabase(config);
    const version = packageVersion();
    io.out(json ? JSON.stringify({ database, pid: process.pid, version }) : `Working on ${database}`);
    log.info({ database, version }, "working");
  });
}
