/** The files of the console: one document for all its pages, its script, its style sheet, its icon. */
import page from "../../console/index.html";

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
}

/** Files by name, `""` for the document. */
type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

let loaded: Promise<ConsoleFiles> | undefined;

/**
 * The answer to a request for the console. Every path below it that is no file is the document: the page reads the path.
 * @param pathname `/console`, or below it
 */
export async function consoleAnswer(request: Request, pathname: string): Promise<Response> {
  if (request.method !== "GET" && request.method !== "HEAD")
    return new Response(null, { status: 405, headers: { ...OF_ALL, allow: "GET, HEAD" } });
  const files = await (loaded ??= load().catch((cause: unknown) => {
    loaded = undefined;
    throw cause;
  }));
  const name = pathname.slice(CONSOLE.length + 1);
  const file = files.get(name);
  // A page that was opened before an upgrade asks for files that do not exist any more.
  if (!file && /\.(js|css|svg)$/.test(name)) return new Response(null, { status: 404, headers: OF_ALL });
  const { type, bytes } = file ?? files.get("")!;
  const kept = file && name !== "" ? "public, max-age=31536000, immutable" : "no-store";
  return new Response(request.method === "HEAD" ? null : bytes, {
    headers: { ...OF_ALL, "content-type": type, "cache-control": kept },
  });
}

/** The binary contains the files; from source they are built at the first request. */
async function load(): Promise<ConsoleFiles> {
  const files = page.files ? await embedded(page.files) : await built(page.index);
  const document = [...files.keys()].find((name) => name.endsWith(".html"));
  if (document === undefined) throw new Error("The console has no document.");
  const { type, bytes } = files.get(document)!;
  const html = withAddresses(new TextDecoder().decode(bytes), [...files.keys()]);
  files.delete(document);
  return files.set("", { type, bytes: new TextEncoder().encode(html) });
}

async function embedded(list: NonNullable<typeof page.files>): Promise<Map<string, ConsoleFile>> {
  const entries = list.map(async ({ path, headers }) => {
    const bytes = await Bun.file(`${import.meta.dir}/${path}`).bytes();
    return [nameOf(path), { type: headers["content-type"], bytes }] as const;
  });
  return new Map(await Promise.all(entries));
}

async function built(index: string): Promise<Map<string, ConsoleFile>> {
  const { outputs } = await Bun.build({
    entrypoints: [index],
    target: "browser",
    minify: true,
    jsx: { development: false },
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
  });
  const entries = outputs.map(
    async (file) =>
      [nameOf(file.path), { type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) }] as const,
  );
  return new Map(await Promise.all(entries));
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** The document names its files relative to itself, but it is served at addresses of any depth. */
function withAddresses(html: string, names: readonly string[]): string {
  return html.replace(/(src|href)="([^"]*)"/g, (whole, attribute: string, value: string) => {
    const name = nameOf(value);
    return names.includes(name) ? `${attribute}="${CONSOLE}/${name}"` : whole;
  });
}
