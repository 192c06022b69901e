/** The files of the console: one document for all its pages, its scripts, its style sheet, its icon. */
import page from "../../console/index.html";
import { type BundledFile, bundleConsole } from "./bundle.ts";

/** The console's own address, and the beginning of all its addresses. */
export const CONSOLE = "/console";

/** Nothing but files and answers of this listener. Widths of bars are attributes: no style needs to be inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const OF_ALL = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

interface ConsoleFile {
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Packed when a browser first asks for it. */
  gzipped(): Uint8Array<ArrayBuffer>;
}

/** Files by name, `""` for the document. */
type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/** By their base: a listener has one. */
const loaded = new Map<string, Promise<ConsoleFiles>>();

function filesAt(base: string): Promise<ConsoleFiles> {
  const known = loaded.get(base);
  if (known) return known;
  const loading = load(base).catch((cause: unknown) => {
    loaded.delete(base);
    throw cause;
  });
  loaded.set(base, loading);
  return loading;
}

/**
 * The answer to a request for the console. Every path below it that is no file is the document: the page reads the path.
 * @param pathname `/console`, or below it @param base path in front of it at a proxy
 */
export async function consoleAnswer(request: Request, pathname: string, base = ""): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD")
    return new Response(null, { status: 405, headers: { ...OF_ALL, allow: "GET, HEAD" } });
  const files = await filesAt(base);
  const name = pathname.slice(CONSOLE.length + 1);
  const file = files.get(name);
  // A page that was opened before an upgrade asks for files that do not exist any more.
  if (!file && /\.(js|css|svg)$/.test(name)) return new Response(null, { status: 404, headers: OF_ALL });
  const { type, bytes, gzipped } = file ?? files.get("")!;
  const isGzipped = acceptsGzip(request.headers.get("accept-encoding") ?? "");
  const kept = file && name !== "" ? "public, max-age=31536000, immutable" : "no-store";
  return new Response(request.method === "HEAD" ? null : isGzipped ? gzipped() : bytes, {
    headers: {
      ...OF_ALL,
      ...{ "content-type": type, "cache-control": kept, vary: "accept-encoding" },
      ...(isGzipped && { "content-encoding": "gzip" }),
    },
  });
}

/** As small as gzip can be: a console is packed once, and loaded by many browsers. */
export function packed(text: string): Uint8Array<ArrayBuffer> {
  return Bun.gzipSync(text, { level: 12, library: "libdeflate" });
}

/** Whether a client accepts gzip: named, and not with the weight 0. */
function acceptsGzip(accepted: string): boolean {
  return accepted.split(",").some((one) => {
    const [name = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase());
    return name === "gzip" && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

async function load(base: string): Promise<ConsoleFiles> {
  const bundled = await listFiles(page);
  const names = bundled.map(({ name }) => name);
  const pack = (type: string, text: string): ConsoleFile => {
    let gzipped: Uint8Array<ArrayBuffer> | undefined;
    return { type, bytes: new TextEncoder().encode(text), gzipped: () => (gzipped ??= packed(text)) };
  };
  return new Map(
    bundled.map(({ name, type, text }) =>
      name.endsWith(".html") ? ["", pack(type, withAddresses(text, names, base))] : [name, pack(type, text)],
    ),
  );
}

/** @param given in the binary the path of the packed files (`src/build/main.ts`), from source what an import of HTML is */
async function listFiles(given: unknown): Promise<BundledFile[]> {
  if (typeof given !== "string") return (await bundleConsole(page.index)).files;
  const packed = await Bun.file(given).bytes();
  return JSON.parse(new TextDecoder().decode(Bun.gunzipSync(packed))) as BundledFile[];
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** The document names its files relative to itself, but it is served at addresses of any depth. Its scripts read the base. */
function withAddresses(html: string, names: readonly string[], base: string): string {
  const told = base === "" ? html : html.replace("<html ", `<html data-base="${base}" `);
  return told.replace(/(src|href)="([^"]*)"/g, (whole, attribute: string, value: string) => {
    const name = nameOf(value);
    return names.includes(name) ? `${attribute}="${base}${CONSOLE}/${name}"` : whole;
  });
}
