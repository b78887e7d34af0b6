import { describe, expect, test } from "vitest";
import type { ErrorCode } from "../../protocol/errors.ts";
import { addressesOf, checkUrl, type Guard } from "./guard.ts";

const resolving = (...addresses: string[]): Guard => ({
  allowPrivate: false,
  resolve: async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
});
const PUBLIC = resolving("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c");
const DEVELOPMENT: Guard = { ...resolving("127.0.0.1"), allowPrivate: true };
const UNRESOLVED: Guard = { allowPrivate: false, resolve: () => Promise.reject(new Error("ENOTFOUND")) };

const refused = (guard: Guard, url: string, code: ErrorCode) =>
  expect(checkUrl(guard, url)).rejects.toMatchObject({ code });

describe("a URL that somebody asks to be called", () => {
  test.each(["https://hooks.example.com/in", "https://hooks.example.com:8443/?a=b", "https://8.8.8.8/"])(
    "is accepted when it is public: %s",
    async (url) => {
      await checkUrl(PUBLIC, url);
    },
  );

  test.each(["", "hooks.example.com", "/in", "https://", "https://a b/", "https://1.2.3.256/", "https://[::1/"])(
    "is not valid when it is no URL: %j",
    (url) => refused(PUBLIC, url, "validation_error"),
  );

  test.each([
    "http://hooks.example.com/",
    "ftp://hooks.example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://user@hooks.example.com/",
    "https://user:password@hooks.example.com/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://0/",
    "https://１２７.0.0.1/",
    "https://10.1.2.3/",
    "https://172.20.0.1/",
    "https://192.168.0.1/",
    "https://100.64.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[fd00:ec2::254]/",
    "https://[fe80::1]/",
    "https://localhost/",
    "https://LOCALHOST/",
    "https://localhost./",
    "https://app.localhost/",
    "https://printer.local/",
    "https://metadata.google.internal/computeMetadata/v1/",
    "https://metadata.google.internal./",
    "https://metadata/",
    "https://instance-data/",
    "https://kubernetes.default.svc/",
    "https://db.home.arpa/",
  ])("is rejected when deliveries must not go there: %s", (url) => refused(PUBLIC, url, "webhook_url_rejected"));

  test.each(["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1"])(
    "is rejected when its name resolves to %s, also beside a public address",
    async (address) => {
      await refused(resolving(address), "https://rebind.example.com/", "webhook_url_rejected");
      await refused(resolving("8.8.8.8", address), "https://rebind.example.com/", "webhook_url_rejected");
    },
  );

  test("is accepted when its name does not resolve yet, because delivery looks again", async () => {
    await checkUrl(UNRESOLVED, "https://soon.example.com/");
  });

  test("may be plain and private in development, but carries no password even there", async () => {
    for (const url of ["http://localhost:9000/", "https://10.0.0.1/", "http://[::1]:1/"])
      await checkUrl(DEVELOPMENT, url);
    await refused(DEVELOPMENT, "http://user:password@localhost/", "webhook_url_rejected");
    await refused(DEVELOPMENT, "ftp://localhost/", "webhook_url_rejected");
    await refused(DEVELOPMENT, "nothing", "validation_error");
  });
});

describe("the addresses a call may go to", () => {
  test("are those that the name resolves to now", async () => {
    expect(await addressesOf(PUBLIC, new URL("https://hooks.example.com/"))).toHaveLength(2);
    expect(await addressesOf(PUBLIC, new URL("https://8.8.4.4/"))).toEqual([{ address: "8.8.4.4", family: 4 }]);
  });

  test("are none when one of them is private", async () => {
    const url = new URL("https://hooks.example.com/");
    for (const guard of [resolving("10.0.0.1"), resolving("8.8.8.8", "::1")]) {
      await expect(addressesOf(guard, url)).rejects.toMatchObject({ code: "webhook_url_rejected" });
    }
    await expect(addressesOf(PUBLIC, new URL("https://[::1]/"))).rejects.toMatchObject({
      code: "webhook_url_rejected",
    });
  });
});
