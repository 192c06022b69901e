/** One server: what waits for an approval, and its tools. */
import { useState } from "preact/hooks";
import { hrefOf } from "../../../console/data/location.ts";
import { getAll } from "../../../console/data/get-all.ts";
import { readOnly } from "../../../console/data/session.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { useWrite } from "../../../console/data/use-write.ts";
import { counted } from "../../../console/numbers/counts.ts";
import { Button } from "../../../console/parts/controls.tsx";
import { Confirm } from "../../../console/parts/dialog.tsx";
import { Diff } from "../../../console/parts/diff.tsx";
import { Mark } from "../../../console/parts/icons.tsx";
import { RangePicker } from "../../../console/parts/range-picker.tsx";
import { Facts, Panel } from "../../../console/parts/panel.tsx";
import { toast } from "../../../console/parts/toasts.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type {
  getServerPins,
  listServerTools,
  PinsApproved,
  ServerPins,
  ToolServer,
} from "../operator/contracts.ts";
import { visible, visibleName } from "../pins/visible.ts";
import { Tools, USUAL_RANGE } from "./tools-panel.tsx";
import { MARKS, TOOL_MARKS } from "./words.ts";

export function ServerPage({ name, server }: { name: string; server: ToolServer | undefined }) {
  const at = `/tools/servers/${encodeURIComponent(name)}` as const;
  const pins = useApi<typeof getServerPins>(`${at}/pins`);
  const tools = useApi<typeof listServerTools>(`${at}/tools?limit=500`, { read: getAll });
  const again = () => {
    pins.again();
    tools.again();
  };
  const crumbs = (
    <h1 class="crumbs">
      <a href={hrefOf("/tools")}>Tools</a> / {visibleName(name)}
    </h1>
  );
  return (
    <Page title={`Tools of ${visibleName(name)}`} crumbs={crumbs} right={<RangePicker usual={USUAL_RANGE} />}>
      {server && <About server={server} />}
      {pins.data && pins.data.changes.length > 0 && <Waiting pins={pins.data} at={at} onDone={again} />}
      <Tools of={tools} />
    </Page>
  );
}

function About({ server }: { server: ToolServer }) {
  const { state, reason, era, version = "", software = "", at = "", allow, only, isolation } = server;
  return (
    <Panel label="Server">
      <div class="body">
        <Facts
          rows={[
            ["State", <Mark state={MARKS[state]}>{state}</Mark>],
            reason === undefined ? undefined : ["Why", reason],
            ["At", visible(at)],
            era && ["Speaks", `${era} ${version}`],
            software === "" ? undefined : ["Says it is", visible(software)],
            ["For", allow.join(", ") || "nobody"],
            only.length === 0 ? undefined : ["Only", only.join(", ")],
            isolation && ["Sessions", isolation === "key" ? "one for each key" : isolation],
          ]}
        />
      </div>
    </Panel>
  );
}

function Waiting({ pins, at, onDone }: { pins: ServerPins; at: string; onDone: () => void }) {
  const { server, changes, digest } = pins;
  const [asks, setAsks] = useState(false);
  const { busy, error, run } = useWrite<PinsApproved>();
  const approve = async () => {
    const approved = await run("POST", `${at}/approve`, { body: { digest } });
    if (!approved) return;
    toast(`Approved: ${approved.changes.join(", ")}`);
    close();
  };
  // Where something else waits by now, it is shown in place of what was looked at.
  const close = () => {
    setAsks(false);
    onDone();
  };
  return (
    <Panel
      title="Not as approved"
      right={
        <Button kind="main" why={readOnly()} onClick={() => setAsks(true)}>
          Approve…
        </Button>
      }
      foot="What does not show is written as an escape."
    >
      <div class="body stack">
        {changes.map(({ tool, kind, lines }) => (
          <section key={tool}>
            <h3 class="anywhere">
              <Mark state={TOOL_MARKS[kind]}>{kind}</Mark> {visibleName(tool)}
            </h3>
            <Diff lines={lines} label={`${kind} ${visibleName(tool)}`} />
          </section>
        ))}
      </div>
      {asks && (
        <Confirm
          title={`Approve ${counted(changes.length, "tool")} of ${visibleName(server)}?`}
          deed="Approve"
          busy={busy}
          error={error?.message}
          onDo={() => void approve()}
          onClose={close}
        >
          {changes.map(({ tool, kind }) => (
            <p key={tool} class="anywhere">
              {kind} {visibleName(tool)}
            </p>
          ))}
        </Confirm>
      )}
    </Panel>
  );
}
