import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REQUEST_BYTES_MAX } from "../../formats/reviews/request.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { ConversationFiles } from "./conversation-files.ts";

test("a request that was small enough to be sent can be read although its file is larger", async () => {
  const folder = tempDir();
  mkdirSync(join(folder, "turns"));
  const files = new ConversationFiles(folder);
  // A digit and a comma when it is sent, a line of eleven characters when it is kept.
  const content = Array.from({ length: REQUEST_BYTES_MAX / 10 }, () => 0);
  const request = { protocol_version: "1.2", iteration: 1, artifact: { media_type: "application/json", content } };
  await files.write(1, "request.json", request);
  expect((await files.request(1)).artifact.content).toHaveLength(content.length);
});
