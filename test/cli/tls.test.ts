/** Listening with TLS, and a certificate that is replaced while calls run. */
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { FIRST, type KeyPair, SECOND } from "../helpers/certificates.ts";
import { ask, serve, type Serving, until } from "../helpers/serving.ts";

let running: Serving | undefined;
let files: string | undefined;

afterEach(async () => {
  await running?.end();
  running = undefined;
  if (files) rmSync(files, { recursive: true, force: true });
});

function store({ cert, key }: KeyPair): void {
  writeFileSync(join(files!, "cert.pem"), `${cert}\n`);
  writeFileSync(join(files!, "key.pem"), `${key}\n`);
}

async function start(workers: number): Promise<Serving> {
  files = mkdtempSync(join(tmpdir(), "weir-tls-"));
  store(FIRST);
  const tls = `tls: { cert: ${join(files, "cert.pem")}, key: ${join(files, "key.pem")} }\n`;
  running = await serve({ config: tls, workers });
  return running;
}

/** The certificate a new connection is shown, as PEM without line ends. */
function shown(url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(
    { host: "127.0.0.1", port: Number(new URL(url).port), rejectUnauthorized: false },
    () => {
      resolve(socket.getPeerCertificate().raw.toString("base64"));
      socket.destroy();
    },
  );
  socket.on("error", reject);
  return promise;
}

const bare = (pem: string) => pem.replace(/-----[^-]+-----|\n/g, "");
const trusting = ({ cert }: KeyPair) => ({ tls: { ca: cert } });

describe.each([1, 2])("%d processes", (workers) => {
  test("serve calls and streams with TLS, and nothing in plain text", async () => {
    const weir = await start(workers);
    expect(weir.url).toStartWith("https://127.0.0.1:");
    expect(await ask(weir.url, "mock/chat", false, trusting(FIRST))).toMatchObject({ status: 200 });
    expect((await ask(weir.url, "mock/chat", true, trusting(FIRST))).text).toEndWith("data: [DONE]\n\n");
    await expect(ask(weir.url, "mock/chat", false, trusting(SECOND))).rejects.toThrow();
    await expect(ask(weir.url.replace("https:", "http:"), "mock/chat")).rejects.toThrow();
  }, 600_000);

  test("take a new certificate at a reload, and a stream that runs keeps its connection", async () => {
    const weir = await start(workers);
    expect(await shown(weir.url)).toBe(bare(FIRST.cert));
    const streamed = ask(weir.url, "mock/pace-20", true, trusting(FIRST));
    await Bun.sleep(100);
    store(SECOND);
    expect(weir.run("reload")).toMatchObject({ code: 0 });
    const isReplaced = async () => {
      // A connection in the middle of its handshake may be reset when the listener is replaced.
      for (let n = 0; n < 10; n++)
        if ((await shown(weir.url).catch(() => "")) !== bare(SECOND.cert)) return false;
      return true;
    };
    expect(await until(isReplaced, 10_000)).toBe(true);
    expect((await ask(weir.url, "mock/chat", false, trusting(SECOND))).status).toBe(200);
    expect((await streamed).text).toEndWith("data: [DONE]\n\n");
    weir.signal("SIGTERM");
    expect(await weir.exited).toBe(0);
  }, 600_000);
});

test("a certificate whose key is another one is refused at a reload, and the old one stays", async () => {
  const weir = await start(1);
  store({ cert: SECOND.cert, key: FIRST.key });
  const refused = weir.run("reload");
  expect(refused.code).toBe(1);
  expect(refused.output).toMatch(
    /weir\.yaml:1: key must be the private key of the certificate .*, but belongs to another one/,
  );
  expect(refused.output).not.toContain("BEGIN");
  expect(await shown(weir.url)).toBe(bare(FIRST.cert));
}, 600_000);

test("calls go on while the certificate is replaced again and again", async () => {
  const weir = await start(1);
  const loaded = () => weir.log.filter((line) => line.includes("the configuration was reloaded")).length;
  let replacing = true;
  let answered = 0;
  const failures: unknown[] = [];
  const clients = Array.from({ length: 4 }, async () => {
    while (replacing)
      await ask(weir.url, "mock/chat", false, { tls: { rejectUnauthorized: false } }).then(
        ({ status }) => (status === 200 ? answered++ : failures.push(status)),
        (error: unknown) => failures.push(error),
      );
  });
  for (let n = 1; n <= 10; n++) {
    store(n % 2 ? SECOND : FIRST);
    weir.signal("SIGHUP");
    expect(await until(() => loaded() === n, 10_000)).toBe(true);
  }
  replacing = false;
  await Promise.all(clients);
  expect(answered).toBeGreaterThan(10);
  // Connections in the middle of their handshake may be reset; no call that weir has read fails.
  expect(failures.filter((failure) => typeof failure === "number")).toEqual([]);
  expect(failures.length).toBeLessThan(answered / 4);
}, 600_000);

test("that TLS is switched on or off changes take effect after a restart, and is said", async () => {
  const weir = await start(1);
  weir.configure("");
  expect(weir.run("reload").code).toBe(0);
  expect(
    await until(() => weir.log.some((line) => line.includes("tls: changes take effect after a restart"))),
  ).toBe(true);
  expect(await shown(weir.url)).toBe(bare(FIRST.cert));
}, 600_000);
