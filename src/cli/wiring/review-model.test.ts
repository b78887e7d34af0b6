import { describe, expect, test } from "vitest";
import { loadConfig } from "../settings/config.ts";
import { reviewModelOf } from "./review-model.ts";

function bound(env: Record<string, string>) {
  return reviewModelOf(loadConfig({ flags: {}, env, cwd: "/nowhere" }), env);
}

const MODEL = { ASSAY_REVIEW_MODEL: "small", ASSAY_REVIEW_MODEL_URL: "http://127.0.0.1:9/v1" };

describe("the model that reviews", () => {
  test("is that of the settings, or one of its own at the same place", () => {
    const config = loadConfig({ flags: {}, env: MODEL, cwd: "/nowhere" });
    expect(reviewModelOf(config, MODEL, "large")).toEqual({ ...bound(MODEL), model: "large" });
    expect(() => bound({ ASSAY_REVIEW_MODEL_URL: MODEL.ASSAY_REVIEW_MODEL_URL })).toThrow(/ASSAY_REVIEW_MODEL, or/);
  });

  test("may need no key", () => {
    expect(bound(MODEL)).toEqual({ url: "http://127.0.0.1:9/v1", model: "small", timeoutMs: 120_000, attemptsMax: 4 });
  });

  test("has the key that the environment holds, under the usual name or another", () => {
    expect(bound({ ...MODEL, ASSAY_REVIEW_MODEL_KEY: "k1" }).key).toBe("k1");
    expect(bound({ ...MODEL, ASSAY_REVIEW_MODEL_KEY_ENV: "OTHER_KEY", OTHER_KEY: "k2" }).key).toBe("k2");
  });

  test("is refused when it is named by half", () => {
    expect(() => bound({ ASSAY_REVIEW_MODEL: "small" })).toThrow(/ASSAY_REVIEW_MODEL_URL/);
    expect(() => bound({ ...MODEL, ASSAY_REVIEW_MODEL_KEY_ENV: "OTHER_KEY" })).toThrow(/OTHER_KEY, which is not in/);
  });

  test.each(["nonsense", "ftp://host/v1", "https://user:secret-1@host/v1", "https://host/v1?key=secret-1"])(
    "has an address that is one, and no secret is repeated: %s",
    (url) => {
      const load = () => bound({ ...MODEL, ASSAY_REVIEW_MODEL_URL: url });
      expect(load).toThrow(/ASSAY_REVIEW_MODEL_URL must be an address/);
      expect(load).not.toThrow(/secret-1/);
    },
  );

  test("has a key that is not written where its name belongs", () => {
    const load = () => bound({ ...MODEL, ASSAY_REVIEW_MODEL_KEY_ENV: "sk-secret-1" });
    expect(load).toThrow(/must be the name of an environment variable/);
    expect(load).not.toThrow(/secret-1/);
  });
});
