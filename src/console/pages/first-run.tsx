/** The page Now before the first call: the commands that make one, and who can answer it. */
import type { listProviders, Overview, ProviderEntry } from "../data/types.ts";
import { hrefOf } from "../data/location.ts";
import { session } from "../data/session.ts";
import { useApi } from "../data/use-api.ts";
import { CopyLine } from "../parts/controls.tsx";
import { Mark } from "../parts/icons.tsx";
import { Panel } from "../parts/panel.tsx";
import { Loaded } from "../parts/states.tsx";
import { readiness, stepsOf } from "./first-steps.ts";

/** Providers without a key that are named; the others are counted. */
const NAMED = 3;

export function FirstRun({ overview }: { overview: Overview }) {
  const gateway = overview.gateway ?? session.value?.gateway ?? "http://127.0.0.1:9347";
  const { open } = overview;
  return (
    <div class="first">
      <div>
        <h2>Waiting for the first call</h2>
        <p class="mid">
          weir listens on {gateway.replace(/^https?:\/\//, "")}. This page changes by itself when a call ends.{" "}
          {open ? "No key is needed." : "Every call needs a key."}
        </p>
      </div>
      <ol class="steps">
        {!open && (
          <li>
            <div>
              <h3>
                <a class="fig" href={hrefOf("/keys", { new: "key" })}>
                  Make a key
                </a>
              </h3>
              <CopyLine text="export WEIR_API_KEY=weir_sk_…" label="the line for the shell" />
            </div>
          </li>
        )}
        {stepsOf(gateway, open).map(({ title, command, base }) => (
          <li key={title}>
            <div>
              <h3>{title}</h3>
              <CopyLine text={command} label="the command" />
              {base !== undefined && (
                <p class="mid">
                  In the SDK: <code>base_url="{base}"</code>
                </p>
              )}
            </div>
          </li>
        ))}
      </ol>
      <WhoCanAnswer />
      <p class="mid">
        Then:{" "}
        <a class="fig" href={hrefOf("/keys", { new: "key" })}>
          make a key with a budget
        </a>
        , or{" "}
        <a class="fig" href={hrefOf("/playground")}>
          try a model here
        </a>
        .
      </p>
    </div>
  );
}

function WhoCanAnswer() {
  const reading = useApi<typeof listProviders>("/providers");
  return (
    <Panel title="Who can answer">
      <Loaded of={reading} what="Providers" rows={4}>
        {({ providers }) => {
          const on = providers.filter((provider) => provider.on);
          const off = providers.filter((provider) => !provider.on);
          return (
            <table class="tbl wraps">
              <tbody>
                {[...on, ...off.slice(0, NAMED)].map((provider) => (
                  <ProviderRow key={provider.name} provider={provider} />
                ))}
                {off.length > NAMED && (
                  <tr>
                    <td>
                      <Mark state="off">
                        <a class="fig" href={hrefOf("/providers")}>
                          {off.length - NAMED} more
                        </a>
                      </Mark>
                    </td>
                    <td class="mid">not set up</td>
                  </tr>
                )}
              </tbody>
            </table>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function ProviderRow({ provider }: { provider: ProviderEntry }) {
  return (
    <tr>
      <td>
        <Mark state={provider.on ? "ok" : "off"}>{provider.name}</Mark>
      </td>
      <td class="mid">{readiness(provider)}</td>
    </tr>
  );
}
