import { expect, test } from "vitest";
import { fingerprintOf } from "./session.ts";
import { isSessionID, newSessionID, streamIdsFor } from "./stream-ids.ts";

test("ids have the form of the command's, and parts of one answer sort by their place", () => {
  for (const atMs of [0, 1, Date.now(), 2 ** 36 - 1, 2 ** 36, 8.64e15]) {
    const { sessionID, messageID, partIDs } = streamIdsFor(newSessionID(atMs), atMs);
    for (const id of [sessionID, messageID, ...partIDs])
      expect(id).toMatch(/^(ses|msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}$/);
    expect([...partIDs].sort()).toEqual(partIDs);
    expect(isSessionID(sessionID)).toBe(true);
  }
});

test("no two sessions of one moment have the same id", () => {
  expect(new Set(Array.from({ length: 1000 }, () => newSessionID(7))).size).toBe(1000);
});

test.each([
  [""],
  ["ses_"],
  ["../../etc/passwd"],
  ["ses_0123456789abABCDEFGHIJKLMN\n"],
  ["ses_0123456789abABCDEFGHIJKL/."],
])("%j is no id of a session", (text) => {
  expect(isSessionID(text)).toBe(false);
});

test("a fingerprint does not depend on the order of names or on blanks, but on everything else", () => {
  const print = (text: string) => fingerprintOf(JSON.parse(text));
  expect(print('{"b":[1,{"d":null,"c":"x"}],"a":1.0}')).toBe(print('{ "a": 1, "b": [1, {"c": "x", "d": null}] }'));
  expect(print('{"a":[1,2]}')).not.toBe(print('{"a":[2,1]}'));
  expect(print('{"a":"1"}')).not.toBe(print('{"a":1}'));
  expect(print('{"a":1}')).not.toBe(print('{"a":1,"x-b":1}'));
});

test("half a surrogate pair has a fingerprint of its own", () => {
  expect(fingerprintOf("\ud800")).not.toBe(fingerprintOf("\ud801"));
});
