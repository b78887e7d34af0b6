// @ts-check
// Loaded before the program (`node --import …/clock.js?at=INSTANT`): its clock shows that instant when it starts, and goes on from there.
const shiftMs = Date.parse(new URL(import.meta.url).searchParams.get("at") ?? "") - Date.now();
if (Number.isNaN(shiftMs)) throw new Error("Which instant? clock.js?at=2026-11-16T06:00:00Z");

const RealDate = Date;
const now = () => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
