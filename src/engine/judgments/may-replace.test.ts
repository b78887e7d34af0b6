import { expect, test } from "vitest";
import { mayReplace } from "./may-replace.ts";

const person = { actor: "rob", actorKind: "person" } as const;
const agent = { actor: "rob", actorKind: "agent" } as const;
const imported = { importedBy: "olga" } as const;

test("a judgment is replaced by its author, and a person's only as a person's, made here or imported", () => {
  expect(mayReplace(person, person)).toBe(true);
  expect(mayReplace(person, agent)).toBe(true);
  expect(mayReplace(agent, agent)).toBe(true);
  expect(mayReplace({ ...person, actor: "sue" }, person)).toBe(false);
  expect(mayReplace(agent, person)).toBe(false);
  expect(mayReplace(agent, { ...person, ...imported })).toBe(false);
  expect(mayReplace({ ...person, ...imported }, person)).toBe(false);
  expect(mayReplace({ ...person, ...imported }, { ...person, ...imported })).toBe(true);
});
