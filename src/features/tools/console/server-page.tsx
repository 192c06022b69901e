/** One server: what waits for an approval, and its tools. */
import { useState } from "preact/hooks";
import { hrefOf } from "../../../console/data/location.ts";
import { getAll } from "../../../console/data/get-all.ts";
import { readOnly } from "../../../console/data/session.ts";
import { type Reading, useApi } from "../../../console/data/use-api.ts";
import { useWrite } from "../../../console/data/use-write.ts";
import { count, counted } from "../../../console/numbers/counts.ts";
import { Button, Figure } from "../../../console/parts/controls.tsx";
import { Confirm } from "../../../console/parts/dialog.tsx";
import { Diff } from "../../../console/parts/diff.tsx";
import { Heads } from "../../../console/parts/heads.tsx";
import { Mark } from "../../../console/parts/icons.tsx";
import { MoneyCell } from "../../../console/parts/numbers.tsx";
import { Facts, Panel } from "../../../console/parts/panel.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { toast } from "../../../console/parts/toasts.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type {
  getServerPins,
  listServerTools,
  PinsApproved,
  ServerPins,
  ServerTool,
  ToolServer,
} from "../operator/contracts.ts";
import { visible, visibleLines, visibleName } from "../pins/visible.ts";
import { argumentsOf, MARKS, textIn, TOOL_MARKS } from "./words.ts";

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
    <Page title={`Tools of ${visibleName(name)}`} crumbs={crumbs}>
      {server && <About server={server} />}
      {pins.data && pins.data.changes.length > 0 && <Waiting pins={pins.data} at={at} onDone={again} />}
      <Tools of={tools} server={name} />
    </Page>
  );
}

function About({ server }: { server: ToolServer }) {
  const { state, reason, era, version = "", software = "", at = "", allow, only, isolation } = server;
  return (
    <Panel label="Server">
      <Facts
        rows={[
          ["State", <Mark state={MARKS[state]}>{reason === undefined ? state : `${state}: ${reason}`}</Mark>],
          ["At", visible(at)],
          era && ["Speaks", `${era} ${version}`],
          software === "" ? undefined : ["Says it is", visible(software)],
          ["For", allow.join(", ") || "nobody"],
          only.length === 0 ? undefined : ["Only", only.join(", ")],
          isolation && ["Sessions", isolation === "key" ? "one for each key" : isolation],
        ]}
      />
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
      {changes.map(({ tool, kind, lines }) => (
        <section key={tool}>
          <h3>
            <Mark state={TOOL_MARKS[kind]}>{kind}</Mark> {visibleName(tool)}
          </h3>
          <Diff lines={lines} label={`${kind} ${visibleName(tool)}`} />
        </section>
      ))}
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
            <p key={tool}>
              {kind} {visibleName(tool)}
            </p>
          ))}
        </Confirm>
      )}
    </Panel>
  );
}

const HEADS = [["Tool"], ["What it says"], ["Pin"], ["Tokens", "num"], ["A call", "num"]] as const;

function Tools({ of, server }: { of: Reading<{ tools: readonly ServerTool[] }>; server: string }) {
  return (
    <Panel title="Tools" busy={of.busy}>
      <Loaded of={of} what="Tools">
        {({ tools }) =>
          tools.length === 0 ? (
            <Blank title="No tool was seen.">weir lists the tools when a caller first wants them.</Blank>
          ) : (
            <div class="scroll">
              <table class="tbl wraps">
                <Heads of={HEADS} />
                <tbody>
                  {tools.map((tool) => (
                    <Row key={tool.tool} tool={tool} server={server} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Row({
  tool: { tool, state, definition, tokens, price, name },
  server,
}: {
  tool: ServerTool;
  server: string;
}) {
  const says = textIn(definition, "description") || textIn(definition, "title");
  return (
    <tr>
      <td title={visibleName(server)}>
        <Figure query={{ provider: "mcp", model: name }}>{visibleName(tool)}</Figure>
      </td>
      <td>
        {visibleLines(says).map((line, at) => (
          <div key={at}>{line}</div>
        ))}
        <span class="dim">{argumentsOf(definition).map(visibleName).join(", ")}</span>
      </td>
      <td>
        <Mark state={TOOL_MARKS[state]}>{state}</Mark>
      </td>
      <td class="num">{count(tokens)}</td>
      <td class="num">
        <MoneyCell nano={price} />
      </td>
    </tr>
  );
}
