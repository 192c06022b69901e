/** What `weir serve` prints when it listens. */
import type { Config } from "../config/schema.ts";
import type { Deployment } from "../core/provider.ts";
import { OLD_DAYS, priceBookDays } from "../ledger/prices/age.ts";
import type { OpenedBooks, RunningWeir } from "../running-weir.ts";
import { routeRows } from "./routes.ts";
import { table } from "./terminal.ts";

/**
 * The address, providers, routes and number of keys, and a command to try.
 * @param now milliseconds since 1970
 */
export function startTable(
  { url, parts, answers, admin }: Pick<RunningWeir, "url" | "parts" | "answers" | "admin">,
  config: Config,
  books: OpenedBooks,
  now = Date.now(),
): string {
  const routes = routeRows(parts.registry);
  const providers = parts.registry.providers.map((provider) => [
    provider.name,
    provider.patterns.join(" "),
    provider.deployments.map(placeOf).join(", "),
  ]);
  const widths = [0, 1].map((column) =>
    Math.max(...providers.map((row) => Math.min(48, row[column]!.length))),
  );
  const rows = providers.map(
    ([name, patterns, origin]) =>
      `    ${name!.padEnd(widths[0]!)}  ${patterns!.padEnd(widths[1]!)}  ${origin}`,
  );
  const auth = !books.isOpen ? ` -H "authorization: Bearer $WEIR_API_KEY"` : "";
  const [model] = parts.registry.eachModel();
  const example = model?.id ?? "mock/chat";
  return [
    `weir is listening on ${url}`,
    "  providers",
    ...rows,
    ...(routes.length > 0 ? ["  routes", table(routes, "    ")] : []),
    ...parts.broken.map(({ message }) => `    not loaded: ${message}`),
    ...(parts.registry.off.length > 0
      ? [
          `    off: ${parts.registry.off.map(({ provider }) => provider.name).join(", ")} (weir check prints why)`,
        ]
      : []),
    `  keys: ${describeKeys(books)}`,
    `  answers: ${answers}`,
    `  books: ${books.place}`,
    ...pricesLine(priceBookDays(now)),
    `  admin: ${describeAdmin(admin)}`,
    ...consoleLine(admin),
    ...telemetryLines(config),
    "  try",
    `    curl -N ${curlTarget(url, config)}/v1/chat/completions -H "content-type: application/json"${auth} \\`,
    `      -d '{"model":"${example}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
  ].join("\n");
}

function describeKeys({ keys, isOpen }: OpenedBooks): string {
  if (keys === undefined) return "not known until the books are open";
  if (keys > 0) return String(keys);
  return isOpen
    ? "none (loopback only); set WEIR_API_KEYS to accept other machines"
    : "none that is valid, and calls need one; create it with weir keys create";
}

function pricesLine(days: number): string[] {
  if (days <= OLD_DAYS) return [];
  return [`  prices: ${days} days old; update weir, or set prices of newer models in the config`];
}

/** Only where something is sent: the paths may contain credentials. */
function telemetryLines({ traces, alerts }: Config): string[] {
  const places = [...new Set(alerts.map(({ to }) => new URL(to.reveal()).origin))];
  return [
    ...(traces.to === undefined ? [] : [`  traces: to ${new URL(traces.to).origin}`]),
    ...(places.length === 0 ? [] : [`  alerts: to ${places.join(", ")}`]),
  ];
}

function describeAdmin(admin: RunningWeir["admin"]): string {
  if (admin === undefined) return "off";
  return "url" in admin ? `${admin.url} (weir keys, weir usage; metrics at /metrics)` : admin.fault;
}

/** Scripts read this line. Where there is an admin key, one signs in with it or with `weir console`. */
function consoleLine(admin: RunningWeir["admin"]): string[] {
  if (!admin || !("url" in admin)) return [];
  const { url, token } = admin;
  return [`  console ${url}/console${token === undefined ? "" : `#t=${token}`}`];
}

function curlTarget(url: string, { listen }: Config): string {
  return listen.unix === undefined ? url : `--unix-socket ${listen.unix} http://localhost`;
}

/** The origin of a deployment, with the deployment's name if it has one. */
function placeOf({ name, baseUrl }: Deployment): string {
  const origin = baseUrl ? new URL(baseUrl).origin : "in this process";
  return name.includes("/") ? `${name.slice(name.indexOf("/") + 1)} ${origin}` : origin;
}
