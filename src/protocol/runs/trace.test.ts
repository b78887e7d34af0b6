import { describe, expect, test } from "vitest";
import { traceOfHeader } from "./trace.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("a traceparent header", () => {
  test("names a trace and a span, also in versions to come", () => {
    const trace = { traceId: TRACE, spanId: SPAN };
    expect(traceOfHeader(`00-${TRACE}-${SPAN}-01`)).toEqual(trace);
    expect(traceOfHeader(`01-${TRACE}-${SPAN}-00-more`)).toEqual(trace);
  });

  test.each([
    undefined,
    "",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  ])("counts as absent when it is %j", (header) => {
    expect(traceOfHeader(header)).toBeUndefined();
  });
});
