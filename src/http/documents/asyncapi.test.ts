import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVENTS } from "../../protocol/events.ts";
import { INBOX_EVENTS } from "../../protocol/gates/inbox-api.ts";
import { ANNOTATION_EVENTS } from "../../protocol/judgments/annotation-api.ts";
import { OPERATIONS } from "../../protocol/operations.ts";
import { type TestHost, testHost } from "../../testing/host.ts";
import { asyncApiDocument } from "./asyncapi.ts";

// biome-ignore lint/suspicious/noExplicitAny: the document is looked at from outside, as a client would
let document: any;
beforeAll(() => {
  document = JSON.parse(JSON.stringify(asyncApiDocument("1.2.3")));
});

describe("the AsyncAPI document", () => {
  test("has what AsyncAPI 3 requires", () => {
    expect(document).toMatchObject({ asyncapi: "3.0.0", info: { version: "1.2.3" } });
    for (const operation of Object.values<{ action: string; channel: { $ref: string } }>(document.operations)) {
      expect(operation.action).toBe("send");
      expect(resolve(operation.channel.$ref)).toBeDefined();
    }
  });

  test.each(Object.keys(EVENTS))("has a message for %s, narrowed to its payload", (type) => {
    const { payload, name } = document.components.messages[type];
    expect(name).toBe(type);
    expect(payload.allOf[0]).toEqual({ $ref: "#/components/schemas/RunEventDoc" });
    expect(payload.allOf[1].properties.type).toEqual({ const: type });
    expect(document.channels.runDebug.messages).toHaveProperty([type]);
  });

  test("carries snapshots on one stream and batches on the others", () => {
    const messagesOf = (channel: string) => Object.keys(document.channels[channel].messages);
    expect(messagesOf("runValues")).toEqual(["state.snapshot"]);
    expect(messagesOf("runUpdates")).toContain("batch");
    expect(messagesOf("runUpdates")).not.toContain("node.started");
    expect(messagesOf("runDebug")).toContain("batch");
  });

  test("refers only to what it holds", () => {
    for (const [, reference = ""] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) {
      expect(resolve(reference), reference).toBeDefined();
    }
  });
});

describe("a stream of a real run", () => {
  let host: TestHost;
  let path: string;
  beforeAll(async () => {
    host = await testHost({ worker: true });
    path = `/v1/runs/${await host.newRun()}/events`;
  });
  afterAll(() => host.close());

  test.each([
    ["runUpdates", "updates", ""],
    ["runValues", "values", ""],
    ["runDebug", "debug", ""],
    ["runDebug", "debug", "&bufferMs=50"],
  ])("is as %s says with streamMode=%s%s", async (channel, mode, more) => {
    const { payload } = await host.ask("GET", `${path}?streamMode=${mode}${more}`);
    const ajv = new Ajv2020({ strict: false }).addSchema(document, "api");
    const frames = [...payload.matchAll(/^id: (\d+)\nevent: (.*)\ndata: (.*)\n\n/gm)];
    expect(frames.length).toBeGreaterThan(0);
    for (const [, , name = "", data = ""] of frames) {
      expect(document.channels[channel].messages).toHaveProperty([name]);
      const check = ajv.compile({ $ref: `api#/components/messages/${name}/payload` });
      expect(check(JSON.parse(data)), `${name}: ${ajv.errorsText(check.errors)}`).toBe(true);
    }
  });
});

describe("a live inbox", () => {
  test("says what its channel describes", () => {
    expect(Object.keys(document.channels.inbox.messages)).toEqual(Object.keys(INBOX_EVENTS));
    expect(document.channels.inbox.address).toBe(OPERATIONS.streamInbox.path);
    for (const name of Object.keys(INBOX_EVENTS)) expect(document.components.messages[name].payload).toBeDefined();
  });
});

describe("judgments", () => {
  test("are a message of the streams that show changes of a run, with the annotation as its payload", () => {
    const { name, title, payload } = document.components.messages.RunAnnotated;
    expect({ name, title }).toEqual({ name: "RunAnnotated", title: "run.annotated" });
    expect(payload).toEqual({ $ref: "#/components/schemas/Annotation" });
    for (const channel of ["runUpdates", "runDebug"]) {
      expect(document.channels[channel].messages).toHaveProperty("RunAnnotated");
    }
    expect(document.channels.runValues.messages).not.toHaveProperty("RunAnnotated");
  });

  test("have a channel of their own with a message for every change", () => {
    expect(Object.keys(document.channels.annotations.messages)).toEqual(Object.keys(ANNOTATION_EVENTS));
    expect(document.channels.annotations.address).toBe(OPERATIONS.streamJudgments.path);
    for (const name of Object.keys(ANNOTATION_EVENTS)) {
      expect(document.components.messages[name].payload).toEqual({ $ref: "#/components/schemas/AnnotationView" });
    }
  });
});

function resolve(reference: string): unknown {
  return reference
    .slice(2)
    .split("/")
    .reduce((value, key) => value?.[key], document);
}
