import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { correlationIdOf } from "../../src/formats/gates/gate-digest.ts";
import { newOrder, payment, waitsForPayment } from "../../src/testing/external-events.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflowFolder } from "./assay.ts";
import { type Server, serve } from "./in-process.ts";

let server: Server;
beforeAll(async () => {
  const workflows = workflowFolder({ "order.json": waitsForPayment("order") });
  server = await serve(["--data", tempDir(), "--workflows", workflows]);
});

const send = (orderId: number, ...more: string[]) =>
  server.client("event", "send", "payment.settled", "--correlation", `orderId=${orderId}`, ...more);

const startRun = async (orderId: number, ...more: string[]) =>
  server.client("run", "start", "order", "--inputs", JSON.stringify({ correlation: { orderId } }), ...more);

describe("assay event send", () => {
  test("holds an event that nothing waits for yet, and the run that comes for it goes on", async () => {
    const { orderId } = newOrder();
    const file = join(tempDir(), "payment.json");
    writeFileSync(file, '{"amount":12}');
    const held = await send(orderId, "--event-id", "e1", "--payload", `@${file}`, "--hold", "60");
    expect(held).toMatchObject({ code: 0, stdout: expect.stringMatching(/^held until \d{4}-\S+Z\n$/) });
    const { code, stdout } = await startRun(orderId, "--wait", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed" });
  });

  test("prints the runs that got the event", async () => {
    const { orderId } = newOrder();
    const runId = (await startRun(orderId)).stdout.trim();
    const sent = await sentOnce(orderId);
    expect(sent).toMatchObject({ code: 0, stdout: `${runId} wait running\n` });
    const again = await send(orderId, "--event-id", "e1", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ eventId: "e1", delivered: [{ runId, nodeId: "wait" }] });
  });

  test("takes the id of the correlation in its place", async () => {
    const { orderId } = newOrder();
    const id = ["--correlation-id", correlationIdOf({ orderId })];
    const byId = await server.client("event", "send", "payment.settled", ...id, "--event-id", "e1", "--hold", "60");
    expect(byId).toMatchObject({ code: 0, stdout: expect.stringMatching(/^held until /) });
    expect(JSON.parse((await startRun(orderId, "--wait", "--json")).stdout)).toMatchObject({ status: "completed" });
    const both = await send(orderId, ...id, "--event-id", "e1");
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("either --correlation or --correlation-id"),
    });
  });

  test("says what is missing or wrong", async () => {
    const { orderId } = newOrder();
    expect(await send(orderId)).toMatchObject({ code: 2, stderr: expect.stringContaining("--event-id") });
    const alone = await server.client("event", "send", payment({}).eventType, "--event-id", "e1");
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining("--correlation") });
    const unawaited = await send(orderId, "--event-id", "e1");
    expect(unawaited).toMatchObject({ code: 2, stderr: expect.stringMatching(/No open interrupt.*--hold/) });
    const noJson = await send(orderId, "--event-id", "e1", "--payload", "{");
    expect(noJson).toMatchObject({ code: 2, stderr: expect.stringContaining("--payload is not JSON") });
  });

  /** The run may not wait yet; then nothing was recorded, and the event can be sent again. */
  async function sentOnce(orderId: number) {
    for (;;) {
      const sent = await send(orderId, "--event-id", "e1");
      if (sent.code === 0 || !sent.stderr.includes("No open interrupt")) return sent;
    }
  }
});
