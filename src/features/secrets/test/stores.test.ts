/** Each store: what weir asks there, what it reads, and what it says if it cannot. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { References } from "../../../config/references.ts";
import { type Book, open } from "../book.ts";
import { openStore } from "../open-store.ts";
import { placeOf, valueIn } from "../reference.ts";
import type { StoreOptions } from "../store.ts";
import { argumentsOf } from "../stores/exec.ts";
import { ROOT_TOKEN, startVault } from "./fake-vault.ts";

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "weir-stores-"));
const vault = startVault();
vault.put("llm", { openai: "value-one" });
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await vault.stop();
});

const stop = () => AbortSignal.timeout(10_000);

/** The value of a reference, or why there is none. */
async function read(name: string, options: StoreOptions = {}, env: Record<string, string> = {}) {
  const { kind, document, member } = placeOf(name);
  const store = await openStore(kind, options, { PATH: process.env["PATH"]!, ...env });
  return store.read(document, stop()).then(
    ({ content }) => valueIn(content, member),
    (cause: Error) => `fault: ${cause.message}`,
  );
}

/** A server that answers as a store, and what it was asked. */
function serve(answer: (url: URL, request: Request) => unknown) {
  const asked: { url: string; headers: Headers }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      asked.push({ url: request.url, headers: request.headers });
      const found = await answer(new URL(request.url), request);
      return found instanceof Response ? found : Response.json(found);
    },
  });
  afterAll(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}`, asked };
}

const text = (content: string) => {
  const path = join(folder, `${crypto.randomUUID()}.txt`);
  writeFileSync(path, content);
  return path;
};

test("Vault: KV 1 and 2, and each way to sign in", async () => {
  vault.kv1.set("old", { key: "value-of-kv-1" });
  const address = vault.url;
  expect(await read("vault:kv/old#key", { vault: { address, auth: { token: ROOT_TOKEN } } })).toBe(
    "value-of-kv-1",
  );
  const jwt = text("a.service.account\n");
  const aws = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "key", AWS_REGION: "eu-central-1" };
  for (const auth of [
    { approle: { roleId: "role", secretId: "secret-id" } },
    { kubernetes: { role: "weir", tokenFile: jwt } },
    { jwt: { role: "weir", tokenFile: jwt } },
    { aws: { role: "weir" } },
  ])
    expect(await read("vault:secret/data/llm#openai", { vault: { address, auth } }, aws)).toBe("value-one");
  const wrong = { approle: { roleId: "role", secretId: "planted" } };
  expect(await read("vault:secret/data/llm#openai", { vault: { address, auth: wrong } })).toBe(
    "fault: does not let weir sign in: answered with status 400: invalid role or secret ID",
  );
  expect(await read("vault:secret/data/llm#openai", {}, { VAULT_ADDR: address, VAULT_TOKEN: "wrong" })).toBe(
    "fault: answered with status 403: permission denied",
  );
});

test("Vault: a token that was revoked is replaced, and one that ends is renewed", async () => {
  const options = {
    vault: { address: vault.url, auth: { approle: { roleId: "role", secretId: "secret-id" } } },
  };
  vault.tokenSeconds = 0.3;
  const store = await openStore("vault", options, {});
  await store.read("secret/data/llm", stop());
  for (const token of vault.tokens) if (token !== ROOT_TOKEN) vault.tokens.delete(token);
  expect((await store.read("secret/data/llm", stop())).content).toEqual({ openai: "value-one" });
  const renewals = () => vault.asked.filter((line) => line.endsWith("renew-self")).length;
  const before = renewals();
  await Bun.sleep(230);
  await store.read("secret/data/llm", stop());
  expect(renewals()).toBe(before + 1);
  vault.tokenSeconds = 3_600;
});

test("Vault: leases are renewed when two thirds are over, and read again when they end: a hundred times", async () => {
  vault.leaseSeconds = 0.15;
  vault.extensions = 9;
  const references = new References({ kinds: ["vault"], load: () => Promise.reject(new Error("none")) });
  const names = ["vault:database/creds/app#username", "vault:database/creds/app#password"];
  references.uses = names.map((name) => ({ name, at: "weir.yaml:1", path: ["store", "url"] }));
  const book: Book = open(references);
  const written = { secrets: { vault: { address: vault.url, auth: { token: ROOT_TOKEN } } } };
  expect(await book.read(references.uses, written, { env: {}, folder })).toEqual(new Map());
  const faults: string[] = [];
  book.watch({ fault: (sentence) => faults.push(sentence), info: () => {}, changed: () => {} });
  const count = (what: string) => vault.asked.filter((line) => line.includes(what)).length;
  const seen = new Set<string>();
  let stale = 0;
  for (const until = performance.now() + 40_000; performance.now() < until;) {
    const [user, password] = names.map((name) => references.value(name)!);
    expect(user!.replace("user-", "")).toBe(password!.replace("password-of-lease-", ""));
    seen.add(user!);
    const end = vault.leases.get(`database/creds/app/lease-${user!.replace("user-", "")}`)!;
    if (end < Date.now()) stale++;
    if (count("sys/leases/renew") + count("database/creds") >= 100) break;
    await Bun.sleep(10);
  }
  book.stop();
  expect(faults).toEqual([]);
  expect(count("sys/leases/renew") + count("database/creds")).toBeGreaterThanOrEqual(100);
  expect(count("database/creds")).toBeGreaterThan(5);
  expect(seen.size).toBe(count("database/creds"));
  // A machine that is busy for 50 ms may wake up late.
  expect(stale).toBeLessThan(20);
});

test("Google Cloud: the version, with a token of the key file", async () => {
  const { privateKey } = await crypto.subtle.generateKey(
    {
      name: "RSASSA-PKCS1-v1_5",
      modulusLength: 2_048,
      publicExponent: new Uint8Array([1, 0, 1]),
      hash: "SHA-256",
    },
    true,
    ["sign", "verify"],
  );
  const pem = Buffer.from(await crypto.subtle.exportKey("pkcs8", privateKey)).toString("base64");
  const { url, asked } = serve((at) =>
    at.pathname === "/token"
      ? { access_token: "token-of-google", expires_in: 3_600 }
      : at.pathname.includes("/secrets/none/")
        ? Response.json({ error: { code: 404, message: "Secret not found" } }, { status: 404 })
        : { name: "projects/1/secrets/openai/versions/7", payload: { data: btoa("value-of-google") } },
  );
  const keyFile = text(
    JSON.stringify({
      ...{ type: "service_account", client_email: "weir@p.iam", token_uri: `${url}/token` },
      private_key: `-----BEGIN PRIVATE KEY-----\n${pem}\n-----END PRIVATE KEY-----\n`,
    }),
  );
  const options = { gcp: { keyFile, endpoint: url } };
  const name = "gcp-sm:projects/p/secrets/openai/versions/latest";
  expect(await read(name, options)).toBe("value-of-google");
  expect(asked.at(-1)!.url).toBe(`${url}/v1/projects/p/secrets/openai/versions/latest:access`);
  expect(asked.at(-1)!.headers.get("authorization")).toBe("Bearer token-of-google");
  expect(await read("gcp-sm:projects/p/secrets/none/versions/1", options)).toBe(
    "fault: answered with status 404: Secret not found",
  );
  expect(await read("gcp-sm:openai", options)).toContain("must be written as projects/PROJECT/secrets/NAME");
});

test("Key Vault: the address of the secret, with a token of Entra", async () => {
  const { url, asked } = serve((at) =>
    at.pathname.endsWith("/oauth2/v2.0/token")
      ? { access_token: "token-of-entra", expires_in: 3_600 }
      : { value: "value-of-azure", id: `${at.origin}/secrets/openai/0123abcd` },
  );
  const env = {
    ...{ AZURE_TENANT_ID: "tenant", AZURE_CLIENT_ID: "client", AZURE_CLIENT_SECRET: "planted" },
    AZURE_AUTHORITY_HOST: url,
  };
  expect(await read(`azure-kv:${url}/secrets/openai`, {}, env)).toBe("value-of-azure");
  expect(asked.map((one) => new URL(one.url).pathname + new URL(one.url).search)).toEqual([
    "/tenant/oauth2/v2.0/token",
    "/secrets/openai?api-version=7.4",
  ]);
  expect(asked[1]!.headers.get("authorization")).toBe("Bearer token-of-entra");
  for (const wrong of ["http://vault.example/secrets/x", "https://v.vault.azure.net/keys/x", "openai"])
    expect(await read(`azure-kv:${wrong}`, {}, env)).toContain("must be written as https://VAULT");
});

test("Kubernetes: a key of a secret, with the token of the file as it is now", async () => {
  const tokens: (string | null)[] = [];
  const { url } = serve((at, request) => {
    tokens.push(request.headers.get("authorization"));
    expect(at.pathname).toBe("/api/v1/namespaces/weir/secrets/providers");
    return { metadata: { resourceVersion: "42" }, data: { openai: btoa("value-of-k8s") } };
  });
  const tokenFile = text("first\n");
  const options = { kubernetes: { server: url, tokenFile } };
  expect(await read("k8s:weir/providers#openai", options)).toBe("value-of-k8s");
  writeFileSync(tokenFile, "second");
  expect(await read("k8s:weir/providers#openai", options)).toBe("value-of-k8s");
  expect(tokens).toEqual(["Bearer first", "Bearer second"]);
  expect(await read("k8s:providers#openai", options)).toContain("must be written as namespace/name#key");
});

test("a redirect of a store is not followed, and an answer of success is never quoted", async () => {
  const other = serve(() => ({ data: { planted: "x" } }));
  const { url } = serve(() => Response.redirect(`${other.url}/elsewhere`, 307));
  const auth = { token: "planted-token" };
  expect(await read("vault:secret/data/llm#x", { vault: { address: url, auth } })).toBe(
    "fault: answered with a redirect, which weir does not follow",
  );
  expect(other.asked).toEqual([]);
  const odd = serve(() => new Response("planted-value, and no JSON"));
  expect(await read("vault:secret/data/llm#x", { vault: { address: odd.url, auth } })).toBe(
    "fault: answered with status 200",
  );
});

test("programs: words, no shell, a time limit, and standard error without standard output", async () => {
  expect(argumentsOf(`op read "op://x/y z" --flag='a "b"' $HOME;ls`)).toEqual([
    ...["op", "read", "op://x/y z", '--flag=a "b"', "$HOME;ls"],
  ]);
  expect(await read("exec:printf %s\\n value-of-program")).toBe("value-of-program");
  expect(await read("exec:echo $(id) `id` ; id")).toBe("$(id) `id` ; id");
  expect(await read("exec:no-such-program-of-weir x")).toBe(
    "fault: cannot be started: there is no program no-such-program-of-weir",
  );
  expect(await read("exec:sh -c 'echo planted; echo sorry >&2; exit 2'")).toBe("fault: ended with 2: sorry");
  expect(await read("exec:true")).toBe("fault: printed nothing");
  const began = performance.now();
  expect(await read("exec:sleep 60")).toBe("fault: did not end within 5 s");
  expect(performance.now() - began).toBeLessThan(7_000);
});

test("files: the last line break is cut, and an empty file is none", async () => {
  expect(await read(`file:${text("two\nlines\r\n")}`)).toBe("two\nlines");
  expect(await read(`file:${text("\n")}`)).toContain("is empty");
});
