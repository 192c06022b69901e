/** The rig's clients: keep-alive connections that post one body again and again. `bun load.ts URL KIND CONNECTIONS SECONDS BYTES` */
import { connect } from "node:net";

const [url = "", kind = "json", connections = "64", seconds = "3", bytes = "1024"] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const streaming = kind === "stream";

/** A body of about that many bytes, as an agent sends them: many messages with escapes. */
function body(): string {
  const message = { role: "user", content: 'a line\nand "another" one, '.repeat(8) };
  const count = Math.max(1, Math.round(Number(bytes) / JSON.stringify(message).length));
  return JSON.stringify({
    model: "openai/bench",
    stream: streaming,
    messages: Array.from({ length: count }, () => message),
  });
}

const payload = body();
const request = Buffer.from(
  `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`,
);

const latencies: number[] = [];
let pieces = 0;
let failures = 0;
const until = performance.now() + Number(seconds) * 1000;

/** One connection, one request after the other until the time is up. */
function client(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = "";
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      text = "";
      socket.write(request);
    };
    socket.setNoDelay(true);
    socket.on("connect", send);
    socket.on("data", (data: Buffer) => {
      text += data.toString("latin1");
      if (!isWhole(text)) return;
      if (!text.startsWith("HTTP/1.1 200")) failures++;
      latencies.push(performance.now() - sentAt);
      if (streaming) pieces += text.split("data: ").length - 1;
      if (performance.now() < until) send();
      else socket.end(resolve);
    });
    socket.on("error", () => (failures++, resolve()));
    socket.on("close", () => resolve());
  });
}

/** The answer has arrived: by its length, or by its last chunk. */
function isWhole(text: string): boolean {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  return length === undefined ? text.endsWith("0\r\n\r\n") : text.length >= head + 4 + Number(length);
}

const started = performance.now();
await Promise.all(Array.from({ length: Number(connections) }, client));
const elapsed = (performance.now() - started) / 1000;
latencies.sort((a, b) => a - b);
const quantile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
console.log(
  JSON.stringify({
    perSecond: latencies.length / elapsed,
    pieces,
    p50: quantile(0.5),
    p99: quantile(0.99),
    failures,
  }),
);
process.exit(0);
