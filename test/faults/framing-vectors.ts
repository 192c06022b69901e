/** Requests whose end two readers could see in different places, and other heads nobody should act on. */

/** A vector: the first request, with a body that a careless reader takes for the beginning of another. */
export interface Vector {
  why: string;
  /** The bytes, given the whole second request that must not be found in them. */
  bytes(smuggled: string): string;
}

export const BODY = (model: string) =>
  JSON.stringify({ model, max_tokens: 9, messages: [{ role: "user", content: "hi" }] });

export interface Site {
  path: string;
  /** Header lines every request carries. */
  headers: readonly string[];
}

const N = "@N@";
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Header lines that frame the body ambiguously; `@N@` stands for its true length. */
const LENGTHS = [
  [`content-length: +${N}`],
  [`content-length: -${N}`],
  ["content-length: 0x10"],
  ["content-length: "],
  ["content-length: 1e2"],
  [`content-length: ${N}.0`],
  [`content-length: ${N};`],
  [`content-length: '${N}'`],
  [`content-length: ${N}\0`],
  [`content-length: ${N}\u00a0`],
  ["content-length: 99999999999999999999999"],
  ["content-length: 18446744073709551617"],
  [`content-length: ${N} ${N}`],
  [`content-length: ${N},5`],
  [`content-length: ${N}`, "content-length: 5"],
  ["content-length: 5", `content-length: ${N}`],
  ["content-length: 0", `content-length: ${N}`],
  [`content-length: ${N}`, "content-length: 0"],
  [`content-length: ${N}`, "Content-Length : 5"],
  ["content-length: ten"],
];

const CODINGS = [
  "xchunked",
  "chunkedx",
  "chunk",
  "chunked, identity",
  "identity",
  "chunked;q=1",
  "chunked chunked",
  "chunked, chunked",
  "\x0bchunked",
  "chunked\x0b",
  '"chunked"',
  "'chunked'",
  "gzip",
  "gzip, chunked",
  "chunked, gzip",
  "identity, chunked",
  "cow, chunked",
  "chunked\0",
  "\0chunked",
  "chunked\x01",
  "chu nked",
  "chunked\tx",
  "x\tchunked",
  "c\u0068unke\u00e4",
];

const NAMES = [
  "Transfer-Encoding : chunked",
  "Transfer-Encoding\t: chunked",
  " Transfer-Encoding: chunked",
  "\tTransfer-Encoding: chunked",
  "Transfer-Encoding\0: chunked",
  "Transfer Encoding: chunked",
  "\x0bTransfer-Encoding: chunked",
  "Transfer-Encoding\x0b: chunked",
  ": chunked",
  "Transfer-Encoding",
  "X: y\nTransfer-Encoding: chunked",
  "X: y\rTransfer-Encoding: chunked",
  "X: y\r\n\tTransfer-Encoding: chunked",
  "Transfer-Encoding:\r\n chunked",
  "Transfer-Encoding: \r\n\tchunked",
  "X: a\r\r\nTransfer-Encoding: chunked",
  "X: \0",
  "X\u0001: y",
];

/** Chunked bodies that break their own framing. */
const CHUNKS = [
  "0x5\r\nhello\r\n0\r\n\r\n",
  "+5\r\nhello\r\n0\r\n\r\n",
  "-1\r\nhello\r\n0\r\n\r\n",
  "G\r\nhello\r\n0\r\n\r\n",
  "\r\nhello\r\n0\r\n\r\n",
  "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
  "100000000000000005\r\nhello\r\n0\r\n\r\n",
  "5\rhello\r\n0\r\n\r\n",
  "5\nhello\r\n0\r\n\r\n",
  "5\r\nhello0\r\n\r\n",
  "5\r\nhelloXX0\r\n\r\n",
  "5\r\nhello\n0\r\n\r\n",
  "5\r\nhello\r0\r\n\r\n",
  "3\r\nhello\r\n0\r\n\r\n",
  "5 5\r\nhello\r\n0\r\n\r\n",
  "5;a\nb\r\nhello\r\n0\r\n\r\n",
  "1_0\r\nhello\r\n0\r\n\r\n",
  "5\0\r\nhello\r\n0\r\n\r\n",
];

const LINES = [
  "POST @P@ HTTP/2.0",
  "POST @P@ HTTP/1.2",
  "POST @P@ HTTP/1.10",
  "POST @P@ http/1.1",
  "POST @P@ HTTP/11",
  "POST @P@ HTTP/1.1 ",
  "POST @P@ x HTTP/1.1",
  "POST @P@\tHTTP/1.1",
  "POST @P@",
  "POST\0 @P@ HTTP/1.1",
  "PO ST @P@ HTTP/1.1",
  "@P@ HTTP/1.1",
  "POST @P@ HTTP/",
  "POST @P@ FTP/1.1",
  "P\u00d6ST @P@ HTTP/1.1",
];

/** Heads that do not say in one way for whom they are. */
const HOSTS = [
  ["Host: a", "Host: b"],
  ["Host: a", "Host: a"],
  [],
  ["Host : a"],
  ["Host: a", "host: b"],
  ["Host: a, b"],
  ["Host: a b"],
  ["Host: a/b"],
  ["Host: a@b"],
];

/** Every vector for a site; the smuggled request is what a reader who sees another end would find. */
export function ambiguous({ path, headers }: Site, model: (index: number) => string): Vector[] {
  const vectors: Vector[] = [];
  const add = (why: string, write: (body: string, smuggled: string) => string) => {
    const body = BODY(model(vectors.length));
    vectors.push({ why, bytes: (smuggled) => write(body, smuggled) });
  };
  const head = (
    lines: readonly string[],
    first = `POST ${path} HTTP/1.1`,
    host: readonly string[] = ["Host: localhost"],
  ) => `${[first, ...host, ...headers, ...lines].join("\r\n")}\r\n\r\n`;
  for (const lines of LENGTHS)
    add(
      lines.join(" | "),
      (body, smuggled) =>
        head(lines.map((line) => line.replaceAll(N, String(body.length)))) + body + smuggled,
    );
  for (const coding of CODINGS) {
    add(
      `transfer-encoding: ${coding}`,
      (body, smuggled) => head([`transfer-encoding: ${coding}`]) + chunked(body) + smuggled,
    );
    add(
      `transfer-encoding: ${coding}, with a length`,
      (body, smuggled) =>
        head([`transfer-encoding: ${coding}`, `content-length: ${chunked(body).length}`]) +
        chunked(body) +
        smuggled,
    );
  }
  add(
    "a length and chunks",
    (body, smuggled) => head(["content-length: 4", "transfer-encoding: chunked"]) + chunked(body) + smuggled,
  );
  add(
    "chunks and a length",
    (body, smuggled) =>
      head(["transfer-encoding: chunked", `content-length: ${body.length}`]) + chunked(body) + smuggled,
  );
  add(
    "two codings",
    (body, smuggled) =>
      head(["transfer-encoding: chunked", "transfer-encoding: identity"]) + chunked(body) + smuggled,
  );
  add(
    "two codings, the other way",
    (body, smuggled) =>
      head(["transfer-encoding: identity", "transfer-encoding: chunked"]) + chunked(body) + smuggled,
  );
  for (const name of NAMES)
    add(name, (body, smuggled) => head([name, `content-length: ${body.length}`]) + body + smuggled);
  for (const bad of CHUNKS)
    add(`chunk ${bad}`, (_, smuggled) => head(["transfer-encoding: chunked"]) + bad + smuggled);
  for (const line of LINES)
    add(
      line,
      (body, smuggled) =>
        head([`content-length: ${body.length}`], line.replace("@P@", path)) + body + smuggled,
    );
  for (const host of HOSTS)
    add(
      `hosts ${host.join(" | ")}`,
      (body) => head([`content-length: ${body.length}`], undefined, host) + body,
    );
  add(
    "chunks in HTTP/1.0",
    (body, smuggled) =>
      head(["transfer-encoding: chunked"], `POST ${path} HTTP/1.0`) + chunked(body) + smuggled,
  );
  return vectors;
}
