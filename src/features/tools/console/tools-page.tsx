/** Tools: the servers, and one server with its tools and what waits for an approval. Texts of servers are only ever text. */
import { hrefOf } from "../../../console/data/location.ts";
import { useApi } from "../../../console/data/use-api.ts";
import { count } from "../../../console/numbers/counts.ts";
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
const HEADS = [
  ...[["Server"], ["State"], ["Speaks"], ["For"]],
  ...[["Tools", "num"], ["Tokens", "num"], ["Pins"]],
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
              <Blank title="No server of tools.">Servers are in tools.servers of the configuration.</Blank>
            ) : (
              <div class="scroll">
                <table class="tbl">
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
  return (
    <tr>
      <td>
        <a class="fig" href={hrefOf(`/tools/${name}`)}>
          {name}
        </a>{" "}
        <span class="dim">{visible(at)}</span>
      </td>
      <td>
        <Mark state={MARKS[state]}>{state}</Mark> {reason !== undefined && <span class="dim">{reason}</span>}
      </td>
      <td title={visible(software)}>{era && `${era} ${version}`}</td>
      <td>{allow.join(", ") || <span class="dim">nobody</span>}</td>
      <td class="num">{count(server.tools)}</td>
      <td class="num">{count(server.tokens)}</td>
      <td>{waiting > 0 ? <Tag look="warn">{`${waiting} to approve`}</Tag> : pinWords(server.pin)}</td>
    </tr>
  );
}
