/** The output of `weir serve` when it listens. */
import type { Config } from "../config/schema.ts";
import type { Deployment } from "../core/provider.ts";
import type { Registry } from "../gateway/routing/registry.ts";
import { OLD_DAYS, priceBookDays } from "../ledger/prices/age.ts";
import type { OpenedBooks, RunningWeir } from "../run/running-weir.ts";
import { routeRows } from "./routes.ts";
import { table } from "./terminal.ts";

/**
 * The address, providers, routes and number of keys, the console, and a command to try.
 * @param isTerminal a person reads it. Logs are kept and read by others, so they get no link that signs in.
 * @param now milliseconds since 1970
 */
export function startTable(
  {
    url,
    parts,
    answers,
    admin,
    startLines = [],
  }: Pick<RunningWeir, "url" | "parts" | "answers" | "admin" | "startLines">,
  config: Config,
  books: OpenedBooks,
  isTerminal: boolean,
  now = Date.now(),
): string {
  const { registry, broken } = parts;
  const routes = routeRows(registry);
  const auth = !books.isOpen ? ` -H "authorization: Bearer $WEIR_API_KEY"` : "";
  const [model] = registry.eachModel();
  const body = `{"model":"${model?.id ?? "mock/chat"}","stream":true,"messages":[{"role":"user","content":"Hello"}]}`;
  const target = `${curlTarget(url, config)}/v1/chat/completions`;
  return [
    `weir is listening on ${url}`,
    ...trustLine(config),
    ...providerLines(registry),
    ...(routes.length > 0 ? ["  routes", table(routes, "    ")] : []),
    ...broken.map(({ message }) => `    not loaded: ${message}`),
    `  keys: ${describeKeys(books)}`,
    ...(answers === undefined ? [] : [`  answers: ${answers}`]),
    `  books: ${books.place}`,
    ...pricesLine(priceBookDays(now)),
    ...adminLine(admin, isTerminal),
    ...startLines.map((line) => `  ${line}`),
    `  try: curl -N ${target} -H "content-type: application/json"${auth} -d '${body}'`,
  ].join("\n");
}

/** A line for each provider. A newcomer has the mock alone, which one line says. */
function providerLines({ providers, off }: Registry): string[] {
  const others = off.length === 0 ? "" : `${off.length} are off; weir check says what each needs`;
  if (providers.length <= 1)
    return [`  providers: ${[...providers.map(({ name }) => name), others].filter(Boolean).join("; ")}`];
  const rows = providers.map(({ name, patterns, deployments }) => [
    name,
    patterns.join(" "),
    deployments.map(placeOf).join(", "),
  ]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => Math.min(48, row[column]!.length))));
  return [
    "  providers",
    ...rows.map(
      ([name, patterns, origin]) =>
        `    ${name!.padEnd(widths[0]!)}  ${patterns!.padEnd(widths[1]!)}  ${origin}`,
    ),
    ...(others === "" ? [] : [`    ${others}`]),
  ];
}

function describeKeys({ keys, isOpen, isDoubted, forms = [] }: OpenedBooks): string {
  if (isDoubted) return "closed, because the store was damaged or is an older copy; see weir store release";
  if (keys === undefined) return "not known until the books are open";
  const others = forms.join(", ");
  if (keys > 0) return others === "" ? String(keys) : `${keys}, and ${others}`;
  if (others !== "") return `none; calls come with ${others}`;
  return isOpen
    ? "none (loopback only); set WEIR_API_KEYS to accept other machines"
    : "none that is valid, and calls need one; create it with weir keys create";
}

function pricesLine(days: number): string[] {
  if (days <= OLD_DAYS) return [];
  return [`  prices: ${days} days old; update weir, or set prices of newer models in the config`];
}

/**
 * The console, which is on the listener of the admin API. Where there is an admin key, one signs in with it or with
 * `weir console`.
 */
function adminLine(admin: RunningWeir["admin"], isTerminal: boolean): string[] {
  if (admin === undefined) return ["  admin: off"];
  if (!("url" in admin)) return [`  admin: ${admin.fault}`];
  const { url, token } = admin;
  if (token === undefined) return [`  console ${url}/console`];
  return [
    `  console ${url}/console${isTerminal ? `#t=${token}` : "; weir console prints a link that signs in"}`,
  ];
}

/** The variable by which programs of Node, Bun and Deno trust a certificate that weir made. */
function trustLine({ tls }: Config): string[] {
  if (tls.issuer === undefined || tls.cert === undefined) return [];
  return [`  clients trust its certificate with: NODE_EXTRA_CA_CERTS=${tls.cert}`];
}

function curlTarget(url: string, { listen, tls }: Config): string {
  if (listen.unix !== undefined) return `--unix-socket ${listen.unix} http://localhost`;
  return tls.issuer === undefined || tls.cert === undefined ? url : `--cacert ${tls.cert} ${url}`;
}

/** The origin of a deployment, with the deployment's name if it has one. */
function placeOf({ name, baseUrl }: Deployment): string {
  const origin = baseUrl ? new URL(baseUrl).origin : "in this process";
  return name.includes("/") ? `${name.slice(name.indexOf("/") + 1)} ${origin}` : origin;
}
