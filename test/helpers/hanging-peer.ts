/**
 * A peer, in a process of its own, that never finishes a handshake: `bun hanging-peer.ts STAGE` prints its port.
 * `syn`: the TCP handshake is not answered; `hello`: TCP is open and TLS is not answered; `certificate`: the answer to
 * the TLS hello stops inside the certificate.
 */
import { writeSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { SELF_SIGNED } from "../faults/upstream/self-signed.ts";

export const STAGES = ["syn", "hello", "certificate"] as const;
export type Stage = (typeof STAGES)[number];

export interface HangingPeer {
  port: number;
  stop(): void;
}

export async function startHangingPeer(stage: Stage): Promise<HangingPeer> {
  const peer = await run(stage);
  const filler = stage === "syn" ? await run("fill", peer.port) : undefined;
  return {
    port: Number(peer.port),
    stop() {
      filler?.stop();
      peer.stop();
    },
  };
}

/** Runs this file. @returns what it prints first */
async function run(...words: string[]): Promise<{ port: string; stop(): void }> {
  const child = Bun.spawn([process.execPath, import.meta.path, ...words], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  return { port: new TextDecoder().decode(value).trim(), stop: () => child.kill("SIGKILL") };
}

/** More connections than a listening socket keeps waiting for `accept`. */
const BACKLOG = 700;

function listen(server: Server, then: (port: number) => void): void {
  server.on("connection", (socket) => socket.on("error", () => {}));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    then(typeof address === "object" && address ? address.port : 0);
  });
}

/** Accepts nothing: once its backlog is full, the system drops every further SYN. */
function beDeaf(): void {
  listen(createServer(), (port) => {
    writeSync(1, `${port}\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
}

/** Fills the backlog of a deaf peer; says so when no more connections are made. */
function fill(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const opened = () => {
    clearTimeout(timer);
    timer = setTimeout(() => console.log("full"), 300);
  };
  for (let n = 0; n < BACKLOG; n++)
    connect(Number(process.argv[3]), "127.0.0.1", opened).on("error", () => {});
}

function beMute(): void {
  listen(createServer(), (port) => console.log(port));
}

/** Passes on the beginning of a TLS server's first flight. */
function stopInCertificate(): void {
  const hidden = createTlsServer(SELF_SIGNED);
  listen(hidden, (target) => {
    const relay = createServer((socket) => {
      const inner = connect(target, "127.0.0.1");
      inner.on("error", () => {});
      socket.on("data", (bytes) => inner.write(bytes));
      socket.on("close", () => inner.destroy());
      inner.once("data", (bytes: Buffer) => socket.write(bytes.subarray(0, bytes.length - 100)));
    });
    listen(relay, (port) => console.log(port));
  });
}

if (import.meta.main)
  ({ syn: beDeaf, fill, hello: beMute, certificate: stopInCertificate })[process.argv[2] as Stage | "fill"]();
