/** The certificate that weir makes for itself. */
import { afterEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connect } from "node:tls";
import { addressBytes, createKey, signOwn } from "../../src/cli/tls/certificate.ts";
import { instant, integer } from "../../src/cli/tls/der.ts";
import { isDue, namesOf, ownCertificate } from "../../src/cli/tls/own-certificate.ts";
import type { StateHome } from "../../src/run/home.ts";
import { readDocument } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";
import { serve, type Serving, until } from "../helpers/serving.ts";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-11-29T08:00:00Z");
const NAMES = ["localhost", "127.0.0.1", "::1", "box.example"];
const ROOT = resolve(import.meta.dir, "../..");

const folders: string[] = [];
let running: Serving | undefined;

afterEach(async () => {
  await running?.end();
  running = undefined;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function home(): StateHome & { kind: "folder" } {
  const folder = mkdtempSync(join(tmpdir(), "weir-own-"));
  folders.push(folder);
  return { kind: "folder", folder, named: true };
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const read = (path: string) => readFileSync(path, "utf8");

test("numbers, instants and addresses have their bytes", () => {
  expect(hex(integer(Buffer.from("00000080", "hex")))).toBe("02020080");
  expect(hex(integer(Buffer.from("007f", "hex")))).toBe("02017f");
  expect(hex(integer(Buffer.of(0, 0)))).toBe("020100");
  expect(Buffer.from(instant(new Date("2049-12-31T23:59:59.9Z"))).toString("latin1")).toBe(
    "\x17\r491231235959Z",
  );
  expect(Buffer.from(instant(new Date("2050-01-01T00:00:00Z"))).toString("latin1")).toBe(
    "\x18\x0f20500101000000Z",
  );
  expect(hex(addressBytes("10.0.0.255"))).toBe("0a0000ff");
  expect(hex(addressBytes("2001:db8::a:1"))).toBe("20010db80000000000000000000a0001");
  expect(hex(addressBytes("::ffff:127.0.0.1"))).toBe("00000000000000000000ffff7f000001");
});

test("a certificate is for its names and for a year, and is no authority", async () => {
  const key = await createKey();
  for (let n = 0; n < 50; n++) {
    // The numbers of a signature are shorter in one of 128.
    const certificate = new X509Certificate(await signOwn(key, NAMES, NOW));
    expect(certificate.verify(certificate.publicKey)).toBe(true);
  }
  const certificate = new X509Certificate(await signOwn(key, NAMES, NOW));
  expect(certificate.ca).toBe(false);
  expect(Date.parse(certificate.validTo)).toBe(NOW + 365 * DAY_MS);
  expect(Date.parse(certificate.validFrom)).toBe(NOW - 3_600_000);
  expect(certificate.publicKey.asymmetricKeyDetails).toMatchObject({ namedCurve: "prime256v1" });
  expect(certificate.checkHost("localhost")).toBe("localhost");
  expect(certificate.checkHost("box.example")).toBe("box.example");
  expect(certificate.checkHost("other.example")).toBeUndefined();
  expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
  expect(certificate.checkIP("::1")).toBeDefined();
  expect(certificate.checkIP("127.0.0.2")).toBeUndefined();
});

test("the names are this machine's, and those of the config without an address of all", () => {
  const names = namesOf({ host: "0.0.0.0", names: ["Gate.example", "localhost"] });
  expect(names).toEqual([
    ...new Set(["localhost", "127.0.0.1", "::1", hostname().toLowerCase(), "gate.example"]),
  ]);
  expect(namesOf({ host: "::", names: [] })).not.toContain("::");
  expect(namesOf({ host: "fe80::1%eth0", names: [] })).not.toContain("fe80::1%eth0");
});

describe("the files", () => {
  test("stay while they are valid, and only the owner can read the key", async () => {
    const at = home();
    const files = await ownCertificate(at, NAMES, NOW);
    expect(statSync(files.key).mode & 0o777).toBe(0o600);
    expect(statSync(join(at.folder, "tls")).mode & 0o777).toBe(0o700);
    const [cert, key] = [read(files.cert), read(files.key)];
    await ownCertificate(at, NAMES, NOW + 334 * DAY_MS);
    expect([read(files.cert), read(files.key)]).toEqual([cert, key]);
  });

  test("are renewed with the same key 30 days before the end", async () => {
    const at = home();
    const files = await ownCertificate(at, NAMES, NOW);
    const [cert, key] = [read(files.cert), read(files.key)];
    const later = NOW + 335 * DAY_MS + 1_000;
    expect(isDue(cert, key, NAMES, later)).toBe(true);
    await ownCertificate(at, NAMES, later);
    expect(read(files.cert)).not.toBe(cert);
    expect(read(files.key)).toBe(key);
    expect(Date.parse(new X509Certificate(read(files.cert)).validTo)).toBeGreaterThan(later + 364 * DAY_MS);
  });

  test("are made anew for another name, and where they are broken", async () => {
    const at = home();
    const files = await ownCertificate(at, NAMES, NOW);
    await ownCertificate(at, [...NAMES, "new.example"], NOW);
    expect(new X509Certificate(read(files.cert)).checkHost("new.example")).toBe("new.example");
    writeFileSync(files.cert, "-----BEGIN CERTIFICATE-----\n");
    await ownCertificate(at, NAMES, NOW);
    expect(new X509Certificate(read(files.cert)).checkHost("localhost")).toBe("localhost");
  });

  test("fit together where several processes make them at once", async () => {
    const at = home();
    const script = `import { ownCertificate } from "${ROOT}/src/cli/tls/own-certificate.ts";
      await ownCertificate(${JSON.stringify(at)}, ${JSON.stringify(NAMES)}, ${NOW});`;
    const all = Array.from({ length: 4 }, () =>
      Bun.spawn([process.execPath, "-e", script], { stderr: "pipe" }),
    );
    expect(await Promise.all(all.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);
    const [cert, key] = ["cert.pem", "key.pem"].map((name) => read(join(at.folder, "tls", name)));
    expect(isDue(cert, key!, NAMES, NOW)).toBe(false);
  });

  test("are in a folder of this user alone where there is no state folder", async () => {
    const { folder } = home();
    const script = `import { ownCertificate } from "${ROOT}/src/cli/tls/own-certificate.ts";
      console.log((await ownCertificate({ kind: "memory" }, ${JSON.stringify(NAMES)}, ${NOW})).key);`;
    const env = environmentIn(folder, { TMPDIR: folder });
    const ran = Bun.spawnSync([process.execPath, "-e", script], { env });
    const key = ran.stdout.toString().trim();
    expect(key).toBe(join(folder, `weir-tls-${process.getuid!()}`, "key.pem"));
    expect(statSync(resolve(key, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(key).mode & 0o777).toBe(0o600);
  });

  test("are not put behind a link, which another user could have made", async () => {
    const at = home();
    symlinkSync(tmpdir(), join(at.folder, "tls"));
    await expect(ownCertificate(at, NAMES, NOW)).rejects.toThrow(
      `weir cannot keep a certificate of its own in ${join(at.folder, "tls")} (it is not a folder)`,
    );
  });
});

/** What a program of a client does with the variable that the start has printed. */
const CLIENT = `
  import OpenAI from "openai";
  import { OpenAIRealtimeWS } from "openai/realtime/ws";
  const client = new OpenAI({ baseURL: process.argv[1] + "/v1", apiKey: "none", maxRetries: 0 });
  const messages = [{ role: "user", content: "Hello" }];
  const { choices } = await client.chat.completions.create({ model: "mock/chat", messages });
  const rt = new OpenAIRealtimeWS({ model: "mock/realtime" }, client);
  const type = await new Promise((resolve, reject) => {
    rt.on("event", (event) => resolve(event.type));
    rt.on("error", reject);
  });
  rt.close();
  console.log(JSON.stringify([choices.length, type]));
`;

/** The names in the certificate that a new connection is shown. */
function shownNames(port: number): Promise<string | undefined> {
  const { promise, resolve: shown, reject } = Promise.withResolvers<string | undefined>();
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
    shown(socket.getPeerCertificate().subjectaltname);
    socket.destroy();
  });
  socket.on("error", reject);
  return promise;
}

/** The variable that the start prints, and its value. */
async function printed({ log }: Serving): Promise<[name: string, path: string]> {
  const find = () =>
    log.flatMap((line) => /clients trust its certificate with: (\w+)=(\S+)/.exec(line) ?? []).slice(1);
  await until(() => find().length > 0, 10_000);
  const [name, path] = find();
  return [name!, path!];
}

describe.each([1, 2])("%d processes", (workers) => {
  test("serve OpenAI's SDK with the line that the start prints", async () => {
    running = await serve({ config: "tls: { issuer: self }\n", workers });
    expect(running.url).toStartWith("https://127.0.0.1:");
    const [variable, path] = await printed(running);
    expect(path).toEndWith("/cert.pem");
    expect(statSync(path.replace("cert.pem", "key.pem")).mode & 0o777).toBe(0o600);
    const url = running.url.replace("127.0.0.1", "localhost");
    const { folder } = running;
    const run = (more: Record<string, string>) =>
      Bun.spawn([process.execPath, "-e", CLIENT, url], {
        cwd: ROOT,
        env: environmentIn(folder, more),
        stderr: "pipe",
      });
    const trusting = run({ [variable]: path });
    expect(await new Response(trusting.stdout).json()).toEqual([1, "session.created"]);
    expect(await trusting.exited).toBe(0);
    expect(await run({}).exited).not.toBe(0);
  }, 600_000);

  test("make it anew at a reload that names another host", async () => {
    running = await serve({ config: "tls: { issuer: self }\n", workers });
    const [, path] = await printed(running);
    expect(new X509Certificate(read(path)).checkHost("gate.example")).toBeUndefined();
    running.configure("tls: { issuer: self }\nnames: [gate.example]\n");
    expect(running.run("reload")).toMatchObject({ code: 0 });
    expect(new X509Certificate(read(path)).checkHost("gate.example")).toBe("gate.example");
    const port = Number(new URL(running.url).port);
    const isServed = async () =>
      (await shownNames(port).catch(() => ""))?.includes("DNS:gate.example") === true;
    expect(await until(isServed, 10_000)).toBe(true);
  }, 600_000);
});

test("the command of the documentation is one that weir knows, and other words are refused", async () => {
  const [, command] = /`weir (serve --tls self)` makes one/.exec(readDocument("src/config/README.md"))!;
  const given = command!.split(" ");
  running = await serve({ config: "log: { level: warn }\n", workers: 1 });
  expect(running.run(...given, "--help").output).toContain("--tls ISSUER");
  expect(running.run("serve", "--tls", "files")).toMatchObject({
    code: 78,
    output: expect.stringContaining('issuer must be `self`, but is "files"'),
  });
  running.configure("tls: { cert: a.pem, key: b.pem }\n");
  expect(running.run(...given)).toMatchObject({
    code: 78,
    output: expect.stringContaining("tls has cert or issuer, and not both"),
  });
  running.configure("tls: { issuer: self }\nlisten: { unix: weir.sock }\nworkers: 1\n");
  expect(running.run("serve")).toMatchObject({
    code: 78,
    output: expect.stringContaining("TLS is not supported on a unix socket"),
  });
}, 120_000);
