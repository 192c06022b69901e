/** Tools: the servers, and one server with its tools and what waits for an approval. Texts of servers are only ever text. */
import { hrefOf } from "../../../console/data/location.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { count } from "../../../console/numbers/counts.ts";
import { MISSING } from "../../../console/numbers/money.ts";
import { Tag } from "../../../console/parts/controls.tsx";
import { Heads } from "../../../console/parts/heads.tsx";
import { Mark } from "../../../console/parts/icons.tsx";
import { Panel } from "../../../console/parts/panel.tsx";
import { Blank, Loaded } from "../../../console/parts/states.tsx";
import { Page } from "../../../console/shell/page.tsx";
import type { listToolServers, ToolServer } from "../operator/contracts.ts";
import { visible } from "../pins/visible.ts";
import { ServerPage } from "./server-page.tsx";
import { MARKS, pinWords } from "./words.ts";

const EVERY = 10_000;
const EXAMPLE = `tools:
  servers:
    docs:
      url: https://mcp.example.com/mcp
      allow: ["*"]`;
const HEADS = [
  ...[["Server"], ["State"], ["Speaks", "w3"], ["For", "w3"]],
  ...[["Tools", "num w3"], ["Tokens", "num w3"], ["Pins"]],
] as const;

export function ToolsPage({ rest }: { rest: string }) {
  const servers = useApi<typeof listToolServers>("/tools/servers", { every: EVERY });
  if (rest !== "")
    return <ServerPage name={rest} server={servers.data?.servers.find(({ name }) => name === rest)} />;
  return (
    <Page title="Tools">
      <Panel title="Servers" busy={servers.busy} foot="weir asks no server for this page.">
        <Loaded of={servers} what="Servers">
          {({ servers: all }) =>
            all.length === 0 ? (
              <Blank title="No server of tools." acts={<pre class="code">{EXAMPLE}</pre>}>
                The configuration names them; then run weir reload.
              </Blank>
            ) : (
              <div class="scroll">
                <table class="tbl wraps">
                  <Heads of={HEADS} />
                  <tbody>
                    {all.map((server) => (
                      <Row key={server.name} server={server} />
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

function Row({ server }: { server: ToolServer }) {
  const { name, at = "", state, reason, era, version = "", software = "", allow, waiting } = server;
  // What weir has never met has no number of tools.
  const isMet = era !== undefined || server.tools > 0;
  return (
    <tr>
      <td>
        <a class="fig nowrap" href={hrefOf(`/tools/${name}`)}>
          {name}
        </a>
        <div class="dim w3">{visible(at)}</div>
      </td>
      <td>
        <Mark state={MARKS[state]}>{state}</Mark>
        {reason !== undefined && <div class="dim">{reason}</div>}
      </td>
      <td class="w3" title={visible(software)}>
        {era && <span class="nowrap">{`${era} ${version}`}</span>}
      </td>
      <td class="w3">{allow.join(", ") || <span class="dim">nobody</span>}</td>
      <td class="num w3">{count(isMet ? server.tools : undefined)}</td>
      <td class="num w3">{count(isMet ? server.tokens : undefined)}</td>
      <td>
        {waiting > 0 ? (
          <Tag look="warn">{`${waiting} to approve`}</Tag>
        ) : (
          <span class="nowrap">{isMet ? pinWords(server.pin) : <span class="dim">{MISSING}</span>}</span>
        )}
      </td>
    </tr>
  );
}
