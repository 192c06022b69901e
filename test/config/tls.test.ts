/** Certificates that cannot be listened with stop the start. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { FIRST, SECOND } from "../helpers/certificates.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-tls-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

writeFileSync(join(folder, "first.pem"), FIRST.cert);
writeFileSync(join(folder, "first.key"), FIRST.key);
writeFileSync(join(folder, "second.key"), SECOND.key);
writeFileSync(
  join(folder, "encrypted.key"),
  "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
);

function load(tls: Record<string, string>) {
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify({ tls }));
  return loadConfig({ env: {}, cwd: folder }).config.tls;
}

test("paths begin at the config file", () => {
  const tls = { cert: join(folder, "first.pem"), key: join(folder, "first.key") };
  expect(load({ cert: "first.pem", key: "first.key" })).toEqual(tls);
  expect(load({})).toEqual({});
});

const BROKEN: [Record<string, string>, string][] = [
  [{ cert: "first.pem" }, "weir.yaml:1: tls must have both cert and key (at tls.cert)."],
  [{ key: "first.key" }, "weir.yaml:1: tls must have both cert and key (at tls.key)."],
  [
    { cert: "none.pem", key: "first.key" },
    `weir.yaml:1: cert must be a PEM file, but ${folder}/none.pem cannot be read (there is no such file) (at tls.cert).`,
  ],
  [
    { cert: "first.key", key: "first.key" },
    `weir.yaml:1: cert must be a PEM file with a certificate, but ${folder}/first.key contains none (at tls.cert).`,
  ],
  [
    { cert: "first.pem", key: "first.pem" },
    `weir.yaml:1: key must be a PEM file with a private key, but ${folder}/first.pem contains none (at tls.key).`,
  ],
  [
    { cert: "first.pem", key: "second.key" },
    `weir.yaml:1: key must be the private key of the certificate ${folder}/first.pem, but belongs to another one (at tls.key).`,
  ],
  [
    { cert: "first.pem", key: "encrypted.key" },
    `weir.yaml:1: key must not be encrypted, but ${folder}/encrypted.key is (at tls.key).`,
  ],
];

test.each(BROKEN)("files that do not fit are refused: %o", (tls, message) => {
  expect(() => load(tls)).toThrow(message);
});
