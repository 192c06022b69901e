/** Has the bodies of calls kept from now on: a button for a session or a key, and the list of what is kept so. */
import { hrefOf } from "../data/location.ts";
import { knownNames } from "../data/names.ts";
import { readOnly } from "../data/session.ts";
import { type Reading, useReading } from "../data/use-api.ts";
import { useWrite } from "../data/use-write.ts";
import { minute } from "../numbers/times.ts";
import { Button, Fault } from "./controls.tsx";
import { Panel } from "./panel.tsx";

type Kind = "session" | "key" | "path";

interface Rules {
  rules: readonly { id: string; on: { kind: Kind; what: string }; endsAt: number }[];
  /** The option of the config that forbids rules. */
  off?: string;
}

/** Only admin keys may read bodies. */
function useRules(): Reading<Rules> {
  return useReading<Rules>(readOnly() === undefined ? "/capture/rules" : undefined);
}

/** Nothing in a build that cannot keep bodies. */
export function CaptureButton({ kind, what }: { kind: "session" | "key"; what: string }) {
  const { data, again } = useRules();
  const { busy, error, run } = useWrite();
  const why = readOnly() ?? (data?.off === undefined ? undefined : `${data.off} is off in the config.`);
  if (why === undefined && !data) return null;
  const rule = data?.rules.find(({ on }) => on.kind === kind && on.what === what);
  const change = async () => {
    if (rule) await run("DELETE", `/capture/rules/${rule.id}`);
    else await run("POST", "/capture/rules", { body: { on: { kind, what } } });
    again();
  };
  return (
    <>
      {rule && <span class="mid">Captured until {minute(rule.endsAt)}</span>}
      <Button why={rule ? undefined : why} disabled={busy} onClick={() => void change()}>
        {rule ? "Stop capturing" : `Capture this ${kind} for 1 h`}
      </Button>
      <Fault of={error?.message} />
    </>
  );
}

const placeOf = (kind: Kind, what: string) =>
  kind === "path" ? hrefOf("/calls", { path: what }) : hrefOf(`/${kind}s/${what}`);

/** What is captured so at the moment; nothing without a rule. */
export function CapturedNow() {
  const { data, again } = useRules();
  const { busy, error, run } = useWrite();
  if (!data || data.rules.length === 0) return null;
  const end = (id: string) => void run("DELETE", `/capture/rules/${id}`).then(again);
  return (
    <Panel title="Captured on demand">
      <table class="tbl wraps">
        <tbody>
          {data.rules.map(({ id, on: { kind, what }, endsAt }) => (
            <tr key={id}>
              <td>
                {kind}{" "}
                <a class="fig" href={placeOf(kind, what)}>
                  {knownNames()?.keys.find((key) => key.id === what)?.name ?? what}
                </a>
              </td>
              <td class="dim">until {minute(endsAt)}</td>
              <td class="num">
                <Button
                  disabled={busy}
                  aria-label={`Stop capturing the ${kind} ${what}`}
                  onClick={() => end(id)}
                >
                  Stop
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Fault of={error?.message} />
    </Panel>
  );
}
