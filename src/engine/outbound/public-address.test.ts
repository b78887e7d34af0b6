import { describe, expect, test } from "vitest";
import { isPublicAddress } from "./public-address.ts";

const PRIVATE = [
  ["unspecified", "0.0.0.0"],
  ["this network", "0.1.2.3"],
  ["private, class A", "10.0.0.1"],
  ["private, class A, the last", "10.255.255.255"],
  ["carrier-grade NAT, the first", "100.64.0.0"],
  ["carrier-grade NAT, the last", "100.127.255.255"],
  ["a cloud's metadata in it", "100.100.100.200"],
  ["loopback", "127.0.0.1"],
  ["loopback, elsewhere", "127.255.255.254"],
  ["link-local", "169.254.0.1"],
  ["metadata", "169.254.169.254"],
  ["a cloud's own service on a public number", "168.63.129.16"],
  ["private, class B, the first", "172.16.0.0"],
  ["private, class B, the last", "172.31.255.255"],
  ["protocol assignments", "192.0.0.192"],
  ["documentation 1", "192.0.2.1"],
  ["6to4 relays", "192.88.99.1"],
  ["private, class C", "192.168.1.1"],
  ["benchmark, the first", "198.18.0.1"],
  ["benchmark, the last", "198.19.255.255"],
  ["documentation 2", "198.51.100.7"],
  ["documentation 3", "203.0.113.9"],
  ["multicast", "224.0.0.1"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["IPv6 unspecified", "::"],
  ["IPv6 loopback", "::1"],
  ["IPv6 loopback in full", "0:0:0:0:0:0:0:1"],
  ["IPv4-mapped loopback", "::ffff:127.0.0.1"],
  ["IPv4-mapped loopback in hexadecimal", "::ffff:7f00:1"],
  ["IPv4-mapped metadata", "::ffff:169.254.169.254"],
  ["IPv4-compatible", "::127.0.0.1"],
  ["IPv4-compatible of a public one", "::8.8.8.8"],
  ["IPv4-translated", "::ffff:0:127.0.0.1"],
  ["NAT64 of a private one", "64:ff9b::10.0.0.1"],
  ["NAT64 of metadata", "64:ff9b::a9fe:a9fe"],
  ["NAT64 for local use", "64:ff9b:1::808:808"],
  ["discard only", "100::1"],
  ["Teredo", "2001::1"],
  ["benchmark", "2001:2::1"],
  ["ORCHID", "2001:20::1"],
  ["documentation", "2001:db8::1"],
  ["6to4 of a private one", "2002:a00:1::1"],
  ["6to4", "2002:808:808::1"],
  ["documentation, the newer", "3fff::1"],
  ["segment routing", "5f00::1"],
  ["unique local", "fc00::1"],
  ["unique local, a cloud's metadata", "fd00:ec2::254"],
  ["link-local", "fe80::1"],
  ["link-local with a zone", "fe80::1%eth0"],
  ["public with a zone", "2606:4700::1111%eth0"],
  ["site-local", "fec0::1"],
  ["multicast", "ff02::1"],
] as const;

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "168.63.129.15",
  "169.253.255.255",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.1",
  "192.167.255.255",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "2001:4860:4860::8888",
  "2a00:1450:4001:80e::200e",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
];

describe("an address", () => {
  test.each(PRIVATE)("%s is not public: %s", (_, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(PUBLIC)("%s is public", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test.each([
    "",
    "localhost",
    "1.2.3",
    "0x7f.1",
    "2130706433",
    "01.02.03.04",
    "1.2.3.4.5",
    "::g",
    "8.8.8.8:80",
    "[::1]",
  ])("that is none is not public: %j", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
