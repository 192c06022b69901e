/** The calls that the page has sent, side by side. */
import { useRef, useState } from "preact/hooks";
import { begun, follow, type Followed } from "../../../console/pages/playground/follow.ts";

/** Side by side. */
export const MOST_MODELS = 3;

export interface Sent extends Followed {
  model: string;
}

export interface Sending {
  id: string;
  /** Of the call. */
  format: string;
  models: readonly string[];
  /** Id of the key that pays; undefined: none. */
  key: string | undefined;
  runTools: boolean;
}

export interface Runs {
  sent: readonly Sent[];
  isRunning: boolean;
  send(what: Sending): void;
  stop(): void;
}

export function useRuns(): Runs {
  const [sent, setSent] = useState<readonly Sent[]>([]);
  // A second click comes before the button is drawn anew.
  const running = useRef<AbortController | undefined>(undefined);
  return {
    sent,
    isRunning: sent.some(({ isRunning }) => isRunning),
    stop: () => running.current?.abort(),
    send({ id, format, models, key = "", runTools }) {
      if (running.current) return;
      const own = (running.current = new AbortController());
      setSent(models.map((model) => ({ model, ...begun() })));
      const calls = models.map((model, at) => {
        let isDone = false;
        const done = () => {
          if (!isDone) left -= 1;
          isDone = true;
          if (left === 0 && running.current === own) running.current = undefined;
        };
        const show = (change: Partial<Followed>) => {
          setSent((all) => all.map((one, place) => (place === at ? { ...one, ...change } : one)));
          if (change.isRunning === false) done();
        };
        return () =>
          follow(
            `/calls/${encodeURIComponent(id)}/replay`,
            { model, key, runTools },
            {
              format,
              signal: own.signal,
              show,
              isWanted: () => running.current === undefined || running.current === own,
            },
          );
      });
      let left = calls.length;
      for (const call of calls) void call();
    },
  };
}
