/** A Vault with KV 1 and 2, an engine with leases, and its ways to sign in, as far as clients of it go. */

export interface FakeVault {
  url: string;
  /** Secrets of KV 2 below `secret/`, and their versions. */
  kv: Map<string, { data: Record<string, unknown>; version: number }>;
  /** Documents of KV 1 below `kv/`. */
  kv1: Map<string, Record<string, unknown>>;
  /** What was asked: `GET /v1/secret/data/llm`. */
  asked: string[];
  /** Tokens that are valid. */
  tokens: Set<string>;
  /** Leases of `database/creds/*` that are valid, by their ids: when they end, milliseconds since 1970. */
  leases: Map<string, number>;
  /** Of tokens that it gives. Seconds. */
  tokenSeconds: number;
  leaseSeconds: number;
  /** How often a lease may be made longer. */
  extensions: number;
  /** It waits so long before it answers. Milliseconds. */
  delayMs: number;
  /** The status of all answers; 0: it works. */
  failsWith: number;
  put(path: string, data: Record<string, unknown>): void;
  stop(): Promise<void>;
}

export const ROOT_TOKEN = "hvs.root-token-of-the-fake";

export function startVault(): FakeVault {
  let made = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    // A store that hangs must hang longer than the patience of weir, which this test measures.
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      vault.asked.push(`${request.method} ${pathname}`);
      if (vault.delayMs > 0) await Bun.sleep(vault.delayMs);
      if (vault.failsWith > 0) return refuse(vault.failsWith, "fake failure");
      const path = pathname.replace(/^\/v1\//, "");
      const body = request.body ? ((await request.json().catch(() => ({}))) as Record<string, string>) : {};
      const login = /^auth\/([\w-]+)\/login$/.exec(path);
      if (login) return signIn(login[1]!, body);
      const token = request.headers.get("x-vault-token") ?? "";
      if (!vault.tokens.has(token)) return refuse(403, "permission denied");
      if (path === "auth/token/lookup-self") return Response.json({ data: { id: token, ttl: 0 } });
      if (path === "auth/token/renew-self") return Response.json({ auth: authOf(token) });
      if (path === "sys/leases/renew") return extend(body["lease_id"] ?? "");
      if (path.startsWith("secret/data/")) return secret(path.slice("secret/data/".length));
      if (path.startsWith("kv/")) {
        const data = vault.kv1.get(path.slice(3));
        return data ? Response.json({ data, lease_id: "", lease_duration: 2_764_800 }) : refuse(404);
      }
      return path.startsWith("database/creds/") ? credentials(path) : refuse(404);
    },
  });
  const secret = (path: string) => {
    const found = vault.kv.get(path);
    if (!found) return refuse(404);
    const metadata = { version: found.version, created_time: "2026-11-28T00:00:00Z" };
    return Response.json({ data: { data: found.data, metadata }, lease_id: "", lease_duration: 0 });
  };
  const authOf = (token: string) => ({
    ...{ client_token: token, lease_duration: vault.tokenSeconds, renewable: true },
  });
  const signIn = (mount: string, body: Record<string, string>) => {
    const isKnown =
      (mount === "approle" && body["role_id"] === "role" && body["secret_id"] === "secret-id") ||
      (["kubernetes", "jwt"].includes(mount) &&
        body["role"] === "weir" &&
        body["jwt"] === "a.service.account") ||
      (mount === "aws" && body["role"] === "weir" && isIdentity(body));
    if (!isKnown) return refuse(400, "invalid role or secret ID");
    const token = `hvs.given-${++made}`;
    vault.tokens.add(token);
    return Response.json({ auth: authOf(token) });
  };
  const credentials = (path: string) => {
    const id = `${path}/lease-${++made}`;
    vault.leases.set(id, Date.now() + vault.leaseSeconds * 1_000);
    const data = { username: `user-${made}`, password: `password-of-lease-${made}` };
    return Response.json({ data, lease_id: id, lease_duration: vault.leaseSeconds, renewable: true });
  };
  const used = new Map<string, number>();
  const extend = (id: string) => {
    const times = (used.get(id) ?? 0) + 1;
    used.set(id, times);
    if (!vault.leases.has(id) || vault.leases.get(id)! < Date.now()) return refuse(400, "lease not found");
    if (times > vault.extensions) return refuse(400, "lease is not renewable");
    vault.leases.set(id, Date.now() + vault.leaseSeconds * 1_000);
    return Response.json({ lease_id: id, lease_duration: vault.leaseSeconds, renewable: true });
  };
  const vault: FakeVault = {
    url: `http://127.0.0.1:${server.port}`,
    ...{ kv: new Map(), kv1: new Map(), asked: [], tokens: new Set([ROOT_TOKEN]), leases: new Map() },
    ...{ tokenSeconds: 3_600, leaseSeconds: 3_600, extensions: 1_000, delayMs: 0, failsWith: 0 },
    put(path, data) {
      vault.kv.set(path, { data, version: (vault.kv.get(path)?.version ?? 0) + 1 });
    },
    stop: () => server.stop(true),
  };
  return vault;
}

function refuse(status: number, ...errors: string[]): Response {
  return Response.json({ errors }, { status });
}

function isIdentity(body: Record<string, string>): boolean {
  const read = (name: string) => Buffer.from(body[name] ?? "", "base64").toString();
  return (
    read("iam_request_body").includes("GetCallerIdentity") &&
    read("iam_request_headers").includes("AWS4-HMAC-SHA256")
  );
}
