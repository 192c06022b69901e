/** Rules for the sections `traces` and `alerts` that a schema cannot express. */
import { baseUrlFault } from "./address.ts";
import type { Fault } from "./error.ts";
import type { Config } from "./schema.ts";

interface WrittenTelemetry {
  traces?: { to?: string };
  alerts?: { to?: string }[];
}

/** Of the whole config: a variable may name the collector. */
export function collectorFaults({ traces, metrics }: Pick<Config, "traces" | "metrics">): Fault[] {
  if (!metrics.otlp || traces.to !== undefined) return telemetryFaults({ traces });
  return [{ path: ["metrics", "otlp"], clause: "otlp needs traces.to, the collector that gets the metrics" }];
}

export function telemetryFaults({ traces = {}, alerts = [] }: WrittenTelemetry): Fault[] {
  return [
    ...(traces.to === undefined ? [] : faultAt(["traces", "to"], "to", baseUrlFault(traces.to))),
    ...alerts.flatMap(({ to = "" }, index) => faultAt(["alerts", index, "to"], "to", webhookFault(to))),
  ];
}

function faultAt(path: Fault["path"], name: string, clause: string | undefined): Fault[] {
  return clause === undefined ? [] : [{ path, clause: `${name} ${clause}` }];
}

/** The address may contain a credential, so messages do not repeat it. */
function webhookFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "must be a URL that begins with http:// or https://";
  return url.username === "" ? undefined : "must not contain a user name";
}
