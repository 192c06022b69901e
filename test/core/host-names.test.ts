/** Which hosts a request may name: addresses and names of this machine always, other names when the operator lists them. */
import { describe, expect, test } from "bun:test";
import { hostNameFault, isHostHeader, isKnownHost } from "../../src/core/host-names.ts";

const KNOWN = [
  "localhost",
  "LocalHost:9347",
  "localhost.",
  "weir.localhost:1",
  "a.b.localhost.:80",
  "127.0.0.1",
  "127.0.0.1:19347",
  "127.1",
  "0x7f.1",
  "2130706433",
  "10.1.2.3:80",
  "192.0.2.7",
  "[::1]:9347",
  "[::ffff:127.0.0.1]",
  "host.docker.internal:9347",
  "HOST.Containers.Internal",
];

const FOREIGN = [
  "evil.example",
  "evil.example:9347",
  "127.0.0.1.evil.example",
  "127.0.0.1.nip.io:9347",
  "localhost.evil.example",
  "notlocalhost",
  "evil-localhost",
  "docker.internal",
  "x.host.docker.internal",
  "localhost..",
  ".localhost.evil",
  "1.2.3.4.5",
  "xn--80ak6aa92e.com",
  "",
];

describe("without names", () => {
  for (const host of KNOWN) test(`${host} is known`, () => expect(isKnownHost(host, [])).toBe(true));
  for (const host of FOREIGN)
    test(`${JSON.stringify(host)} is foreign`, () => expect(isKnownHost(host, [])).toBe(false));
});

test("a listed name is known with any port and in any letter case, and its subdomains are not", () => {
  for (const host of ["llm.example", "LLM.example:8443", "llm.example.:1"])
    expect(isKnownHost(host, ["Llm.Example"])).toBe(true);
  for (const host of ["x.llm.example", "llm.example.evil", "lm.example"])
    expect(isKnownHost(host, ["llm.example"])).toBe(false);
});

test("a list holds host names, and nothing else", () => {
  for (const name of ["llm.example", "box", "a_b", "xn--bcher-kva.example", "127.0.0.1", "llm.example."])
    expect(hostNameFault(name)).toBeUndefined();
  for (const name of ["", "https://llm.example", "llm.example:80", "llm.example/v1", "*.example", "a b", "-"])
    expect(hostNameFault(name)).toContain("llm.example.com");
});

test("an odd Host is no host at all", () => {
  for (const host of ["127.0.0.1:P@evil", "a b", "[::1", ":99999999", "%00", "a, b", ""])
    expect(isHostHeader(host)).toBe(false);
});
