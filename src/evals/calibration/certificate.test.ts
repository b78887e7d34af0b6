import { describe, expect, test } from "vitest";
import { JudgeCertificate } from "../../protocol/evals/judge-certificate-api.ts";
import { matches } from "../../protocol/schema.ts";
import { calibrationReport, type JudgedItem } from "../../statistics/calibration.ts";
import { sha256 } from "../../testing/builders.ts";
import {
  type CertificateDemands,
  certificateOf,
  certificateProblems,
  hashesOfJudge,
  hashOfGold,
} from "./certificate.ts";

const judge = { promptSha256: sha256("Is it polite?"), model: "small-1", rubric: [{ criterion: "polite", weight: 1 }] };
const issued = "2026-03-01T12:00:00Z";

function judged(agreeing: number, differing: number): JudgedItem[] {
  return Array.from({ length: agreeing + differing }, (_, i) => {
    const gold = i % 2 === 0 ? "pass" : "fail";
    return { itemId: `item-${i}`, gold, judge: i < agreeing ? gold : gold === "pass" ? "fail" : "pass" };
  });
}

function certificate(items = judged(54, 6), over: Partial<JudgeCertificate> = {}): JudgeCertificate {
  return { ...certificateOf(calibrationReport(items, { seed: 1 }), judge, items, { now: issued }), ...over };
}

function codes(given: unknown, over: Partial<CertificateDemands> = {}): string[] {
  const demands = { hashes: hashesOfJudge(judge), now: "2026-04-01T00:00:00Z", ...over };
  return certificateProblems(given, demands).map(({ code }) => code);
}

describe("a certificate", () => {
  test("records the figures, what it is bound to, its date and its end after 90 days", () => {
    const given = certificate();
    expect(given).toMatchObject({
      model: "small-1",
      hashes: { promptSha256: sha256("Is it polite?"), modelSha256: sha256("small-1") },
      issuedAt: "2026-03-01T12:00:00.000Z",
      expiresAt: "2026-05-30T12:00:00.000Z",
      report: { n: 60 },
    });
    expect(matches(JudgeCertificate, given)).toBe(true);
    expect(codes(given)).toEqual([]);
    expect(codes(JSON.parse(JSON.stringify(given)))).toEqual([]);
  });

  test("does not mind the order of keys in the rubric, nor of the items in the gold set", () => {
    const turned = hashesOfJudge({ ...judge, rubric: [{ weight: 1, criterion: "polite" }] });
    expect(turned).toEqual(hashesOfJudge(judge));
    const items = judged(4, 0);
    expect(hashOfGold(items.toReversed())).toBe(hashOfGold(items));
    expect(hashOfGold(items.slice(1))).not.toBe(hashOfGold(items));
    expect(hashOfGold(items.map((item) => ({ ...item, gold: "pass" })))).not.toBe(hashOfGold(items));
  });

  test.each([
    ["prompt_changed", { ...judge, promptSha256: sha256("Is it polite? ") }],
    ["model_changed", { ...judge, model: "small-2" }],
    ["model_changed", { ...judge, fingerprint: "temperature 1" }],
    ["rubric_changed", { ...judge, rubric: [{ criterion: "polite", weight: 0.9 }] }],
  ])("is void: %s", (code, changed) => {
    expect(codes(certificate(), { hashes: hashesOfJudge(changed) })).toEqual([code]);
  });

  test("is void when the gold set changed, for those who have it", () => {
    const goldSha256 = hashOfGold(judged(54, 6));
    expect(codes(certificate(), { hashes: { ...hashesOfJudge(judge), goldSha256 } })).toEqual([]);
    const other = hashOfGold(judged(53, 6));
    expect(codes(certificate(), { hashes: { ...hashesOfJudge(judge), goldSha256: other } })).toEqual(["gold_changed"]);
  });

  test.each([
    ["2026-03-01T11:59:59Z", ["not_yet_issued"]],
    ["2026-03-01T12:00:00Z", []],
    ["2026-05-30T11:59:59.999Z", []],
    ["2026-05-30T12:00:00Z", ["expired"]],
    ["2026-05-30T13:59:59+02:00", []],
    ["tomorrow", ["certificate_unreadable"]],
  ])("at %s has the problems %j", (now, problems) => {
    expect(codes(certificate(), { now })).toEqual(problems);
  });

  test("rests on a kappa of 0.6 and 50 outputs, unless told otherwise", () => {
    expect(codes(certificate(judged(45, 5)))).toEqual([]);
    expect(codes(certificate(judged(46, 3)))).toEqual(["too_few_items"]);
    expect(codes(certificate(judged(40, 20)))).toEqual(["kappa_too_low"]);
    expect(codes(certificate(judged(40, 20)), { minKappa: 0.3 })).toEqual([]);
    const just = certificate().report.kappa.value ?? 0;
    expect(codes(certificate(), { minKappa: just, minN: 60 })).toEqual([]);
    expect(codes(certificate(), { minN: 61 })).toEqual(["too_few_items"]);
    expect(codes(certificate(), { minKappa: Number.NaN, minN: Number.NaN })).toEqual([
      "kappa_too_low",
      "too_few_items",
    ]);
  });

  test("without a kappa does not hold", () => {
    const alike = Array.from({ length: 60 }, (_, i) => ({ itemId: `item-${i}`, gold: "pass", judge: "pass" }));
    expect(codes(certificate(alike))).toEqual(["kappa_undefined"]);
  });

  test("has every problem listed at once, in sentences", () => {
    const problems = certificateProblems(certificate(judged(10, 10)), {
      hashes: hashesOfJudge({ promptSha256: sha256("other"), model: "other", rubric: null }),
      now: "2027-01-01T00:00:00Z",
    });
    expect(problems.map(({ code }) => code)).toEqual([
      "prompt_changed",
      "model_changed",
      "rubric_changed",
      "expired",
      "kappa_too_low",
      "too_few_items",
    ]);
    for (const { problem } of problems) expect(problem).toMatch(/^[A-Z].*\.$/);
  });

  test.each([
    ["certificate_missing", undefined],
    ["certificate_missing", null],
    ["certificate_unreadable", {}],
    ["certificate_unreadable", "certificate"],
    ["certificate_unreadable", certificate(judged(54, 6), { expiresAt: "2026-02-30T00:00:00Z" })],
    ["certificate_unreadable", { ...certificate(), note: "trust me" }],
    ["certificate_unreadable", { ...certificate(), report: { ...certificate().report, kappa: { value: 1 } } }],
  ])("does not hold: %s", (code, given) => {
    expect(codes(given)).toEqual([code]);
  });

  test("cannot be issued at no date, or for no time", () => {
    const report = calibrationReport(judged(54, 6), { seed: 1 });
    expect(() => certificateOf(report, judge, [], { now: "soon" })).toThrow("RFC 3339");
    for (const days of [0, -1, Number.NaN, 10_000]) {
      expect(() => certificateOf(report, judge, [], { now: issued, days })).toThrow("days");
    }
  });
});
