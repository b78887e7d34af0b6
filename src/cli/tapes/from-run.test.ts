import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { bodyHash } from "../../formats/tapes/digest.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

const RUN = "run-01k2v6w0d9q3c5x7m8n4p2r1st";
const LONG = "a long text\n".repeat(1000);

/** A line of a tape that was made of an event with this body. */
function recordOf(content_hash: string, text: string): string {
  const job = { job_id: "j", request_id: "r", backend: "b", state: "s", event_kind: "e", asset_digests: [] };
  const kind = { kind: "model_job", ...job, event: { content_hash, text } };
  return JSON.stringify({ type: "record", seq: 0, virtual_time_ms: 1, monotonic_ms: 1, kind });
}

describe("a run that is fetched as a tape", () => {
  let server: Server;
  afterEach(() => server.close());

  /** What the command leaves in a folder of its own, from a server that answers with this record. */
  async function fetched(record: string): Promise<{ code: number; folder: string; tape: string }> {
    const refusal = (code: string) => JSON.stringify({ error: code, message: code, details: {} });
    server = createServer(({ url = "" }, response) => {
      const [status, body] = url.endsWith("/tape")
        ? [200, `{"type":"header","version":1,"harn_version":"1"}\n${record}\n`]
        : url.endsWith("/sidecar")
          ? [501, refusal("capability_not_provided")]
          : [404, refusal("not_found")];
      const type = status === 200 ? "application/x-ndjson" : "application/json";
      response.writeHead(status, { "content-type": type }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const folder = tempDir();
    mkdirSync(join(folder, "here"));
    const env = { ASSAY_URL: `http://127.0.0.1:${port}`, ASSAY_KEY: "a-key-of-no-importance" };
    const argv = ["tape", "from-run", RUN, "--output", join(folder, "here", "run.tape")];
    const code = await main(argv, { io: recordedIo(), env, cwd: folder });
    return { code, folder, tape: readFileSync(join(folder, "here", "run.tape"), "utf8") };
  }

  test("has its long bodies in files of their own, named by their hash", async () => {
    const hash = await bodyHash(Buffer.from(LONG));
    const { code, folder, tape } = await fetched(recordOf(hash, LONG));
    expect(code).toBe(0);
    expect(tape).not.toContain("a long text");
    expect(readFileSync(join(folder, "here", "run.tape.cas", hash), "utf8")).toBe(LONG);
  });

  test.each(["../../elsewhere/planted", "../planted", "0".repeat(64)])(
    "has no file under a name that the server made up: %s",
    async (name) => {
      const { code, folder, tape } = await fetched(recordOf(name, LONG));
      expect(code).toBe(0);
      expect(tape).toContain("a long text");
      expect(readdirSync(folder)).toEqual(["here"]);
      expect(readdirSync(join(folder, "here"))).toEqual(["run.tape"]);
    },
  );
});
