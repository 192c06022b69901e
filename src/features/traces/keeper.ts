/** The part in the keeper, which makes spans of the records of calls. Their code is loaded when a config has traces. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { TracesUp } from "./section.ts";
import type { Sending } from "./sending.ts";

export function start(host: KeeperHost): KeeperPart<TracesUp> {
  let sending: Promise<Sending> | undefined;
  let hasFailed = false;
  const onFault = (fault: unknown) => {
    if (!hasFailed) host.report(`traces failed: ${String(fault)}`);
    hasFailed = true;
  };
  /** In the order of the calls. Does nothing without traces. A fault of theirs must not end the keeper. */
  const tell = (what: (loaded: Sending) => void) => void sending?.then(what).catch(onFault);
  const receive = ({ settings }: TracesUp) => {
    if (settings) sending ??= import("./sending.ts").then(({ Sending }) => new Sending(host));
    tell((loaded) => loaded.to(settings));
  };
  host.observe({ records: ({ calls }) => tell((loaded) => loaded.records(calls)) });
  return {
    connect: () => ({ receive, ended: () => {} }),
    async close() {
      try {
        await (await sending)?.close();
      } catch (fault) {
        onFault(fault);
      }
    },
  };
}
