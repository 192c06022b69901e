/** Feeds traces and alerts with what happens in the books. Their code is loaded when the config has one of them. */
import type { BookSettings } from "../../ledger/messages.ts";
import type { Telemetry, TelemetryOptions } from "../../telemetry/index.ts";
import type { Books } from "./books.ts";
import { SYSTEM_CLOCK } from "./clock.ts";

export interface BooksTelemetry {
  /** Called for each declaration of a worker, also while the store is not open: that must not keep back an alert. */
  settings(settings: BookSettings): void;
  /** Sends what waits. */
  close(): Promise<void>;
}

export function watchBooks(books: Books): BooksTelemetry {
  let loaded: Promise<Telemetry> | undefined;
  const { observers } = books;
  const options: TelemetryOptions = {
    clock: SYSTEM_CLOCK,
    report: (text) => books.reporter.other(text),
    countSpans: (result, spans) => observers.sent("spans", result, spans),
    countAlert: (result, alerts) => observers.sent("alerts", result, alerts),
    keyName: (id) => books.policy.keys.find((key) => key.id === id)?.name ?? id,
  };
  const load = () => import("../../telemetry/index.ts").then(({ Telemetry }) => new Telemetry(options));
  /** In the order of the calls. Does nothing without traces and alerts. A fault of theirs must not end the keeper. */
  const tell = (what: (telemetry: Telemetry) => void) => void loaded?.then(what).catch(onFault);
  let hasFailed = false;
  const onFault = (fault: unknown) => {
    if (!hasFailed) books.reporter.other(`traces or alerts failed: ${String(fault)}`);
    hasFailed = true;
  };
  observers.add({
    records: ({ calls }) => tell((telemetry) => telemetry.records(calls)),
    state: (worker, state) => tell((telemetry) => telemetry.state(worker, state)),
    store: (fault) => tell((telemetry) => telemetry.store(fault)),
    alert(_, percent, { budget, row, endsAt }) {
      const { name, limit } = budget;
      const used = row.spent + row.assumed;
      tell((telemetry) =>
        telemetry.budget({ name, percent, limit, used, ...(endsAt !== undefined && { endsAt }) }),
      );
    },
  });
  return {
    settings(settings) {
      const isFirst = loaded === undefined && isWanted(settings);
      if (isFirst) loaded = load();
      tell((telemetry) => telemetry.settings(settings));
      // The store may have failed before.
      if (isFirst) tell((telemetry) => telemetry.store(books.reporter.fault));
    },
    async close() {
      try {
        await (await loaded)?.close();
      } catch (fault) {
        onFault(fault);
      }
    },
  };
}

function isWanted({ traces, alerts = [] }: BookSettings): boolean {
  return traces !== undefined || alerts.length > 0;
}
