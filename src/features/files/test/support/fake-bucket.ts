/** A bucket of S3 on the loopback: objects, ranges, transfers in parts, lists in pages. */

export interface FakeBucket {
  readonly url: string;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** Transfers that have begun, and have neither ended nor been given up. */
  readonly open: ReadonlyMap<string, unknown>;
  replace(name: string, bytes: Buffer): void;
  stop(): Promise<void>;
}

/** Names of one page of a list. */
const PAGE = 3;

export function startBucket(name: string): FakeBucket {
  const objects = new Map<string, Buffer>();
  const open = new Map<string, Map<number, Buffer>>();
  let uploads = 0;

  const answer = async (request: Request): Promise<Response> => {
    const { pathname, searchParams: query } = new URL(request.url);
    const [, bucket, ...rest] = pathname.split("/");
    const key = decodeURIComponent(rest.join("/"));
    if (bucket !== name || !request.headers.get("authorization")?.startsWith("AWS4-HMAC-SHA256"))
      return new Response(xml("Error", "<Code>AccessDenied</Code>"), { status: 403 });
    const upload = query.get("uploadId");
    if (request.method === "GET") return key === "" ? list(objects, query) : read(objects.get(key), request);
    if (request.method === "POST" && query.has("uploads")) {
      const id = `upload-${++uploads}`;
      open.set(id, new Map());
      return new Response(xml("InitiateMultipartUploadResult", `<UploadId>${id}</UploadId>`));
    }
    if (request.method === "PUT") {
      const bytes = Buffer.from(await request.bytes());
      const part = upload === null ? undefined : open.get(upload);
      if (part) part.set(Number(query.get("partNumber")), bytes);
      else objects.set(key, bytes);
      return new Response(null, { headers: { etag: `"${bytes.length}"` } });
    }
    if (request.method === "POST" && upload !== null) {
      const parts = [...open.get(upload)!].sort(([one], [other]) => one - other);
      objects.set(key, Buffer.concat(parts.map(([, bytes]) => bytes)));
      open.delete(upload);
      return new Response(xml("CompleteMultipartUploadResult", '<ETag>"x"</ETag>'));
    }
    if (upload !== null) open.delete(upload);
    else objects.delete(key);
    return new Response(null, { status: 204 });
  };

  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", maxRequestBodySize: 2 ** 32, fetch: answer });
  return {
    ...{ url: server.url.origin, objects, open },
    replace: (key, bytes) => void objects.set(key, bytes),
    stop: () => server.stop(true),
  };
}

function read(object: Buffer | undefined, request: Request): Response {
  if (!object) return new Response(xml("Error", "<Code>NoSuchKey</Code>"), { status: 404 });
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "") ?? [];
  if (from === undefined) return new Response(new Uint8Array(object));
  const part = object.subarray(Number(from), to === "" ? undefined : Number(to) + 1);
  return new Response(new Uint8Array(part), { status: 206 });
}

function list(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): Response {
  const [prefix, after] = [query.get("prefix") ?? "", query.get("start-after") ?? ""];
  const names = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const contents = names
    .slice(0, PAGE)
    .map(
      (key) => `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`,
    );
  const more = `<IsTruncated>${names.length > PAGE}</IsTruncated>`;
  return new Response(xml("ListBucketResult", `${more}${contents.join("")}`));
}

function xml(root: string, inner: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><${root}>${inner}</${root}>`;
}
