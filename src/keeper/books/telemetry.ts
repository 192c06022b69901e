/** Feeds traces with what happens in the books. Their code is loaded when the config has them. */
import type { BookSettings } from "../../ledger/messages.ts";
import type { Telemetry, TelemetryOptions } from "../../telemetry/index.ts";
import type { Books } from "./books.ts";
import { SYSTEM_CLOCK } from "./clock.ts";

export interface BooksTelemetry {
  /** Called for each declaration of a worker, also while the store is not open. */
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
    countSpans: (result, spans) => observers.sent(result, spans),
    keyName: (id) => books.policy.keys.find((key) => key.id === id)?.name ?? id,
  };
  const load = () => import("../../telemetry/index.ts").then(({ Telemetry }) => new Telemetry(options));
  /** In the order of the calls. Does nothing without traces. A fault of theirs must not end the keeper. */
  const tell = (what: (telemetry: Telemetry) => void) => void loaded?.then(what).catch(onFault);
  let hasFailed = false;
  const onFault = (fault: unknown) => {
    if (!hasFailed) books.reporter.other(`traces failed: ${String(fault)}`);
    hasFailed = true;
  };
  observers.add({ records: ({ calls }) => tell((telemetry) => telemetry.records(calls)) });
  return {
    settings(settings) {
      if (settings.traces) loaded ??= load();
      tell((telemetry) => telemetry.settings(settings));
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
