/** Config: what runs, where each value comes from, and what a reload would change. */
import type { EffectiveConfig, getConfig } from "../../data/types.ts";
import { query, setQuery } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { Time } from "../../parts/numbers.tsx";
import { Note, Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { counted } from "../../numbers/counts.ts";
import { Button } from "../../parts/controls.tsx";
import { Page } from "../../shell/page.tsx";
import { ChangesPanel } from "./changes.tsx";
import { matchingOptions } from "./options.ts";
import { OptionTable } from "./option-table.tsx";
import { SourcePanel } from "./source.tsx";

/** An editor may save the file at any time. Milliseconds. */
const EVERY = 10_000;

export function ConfigPage() {
  const config = useApi<typeof getConfig>("/config", { every: EVERY });
  const text = query.value["find"] ?? "";
  const isAll = query.value["all"] === "1";
  return (
    <Page title="Config">
      {config.data?.fault !== undefined && (
        <Note state="bad">
          <b>The file on the disk cannot be loaded.</b> {config.data.fault} weir goes on with what it loaded.
        </Note>
      )}
      {config.data && config.data.changes.length > 0 && (
        <ChangesPanel config={config.data} onDone={config.again} />
      )}
      <Panel
        title="Effective values"
        busy={config.busy && !config.data}
        right={
          <>
            {config.data && <Summary config={config.data} />}
            <input
              id="filter"
              class="input search-box"
              type="search"
              aria-label="Part of an option's name, value or source"
              placeholder="limits"
              spellcheck={false}
              value={text}
              onInput={(event) => setQuery({ find: event.currentTarget.value }, { replace: true })}
            />
          </>
        }
      >
        <Loaded of={config} what="The configuration" rows={10}>
          {(data) => <Options config={data} text={text} isAll={isAll} />}
        </Loaded>
      </Panel>
      {query.value["file"] !== undefined && <SourcePanel place={query.value["file"]} />}
    </Page>
  );
}

function Summary({ config: { options, file, loadedAt } }: { config: EffectiveConfig }) {
  const differ = options.filter(({ isDefault }) => !isDefault).length;
  return (
    <span class="dim w3">
      {counted(differ, "option")} set, loaded <Time at={loadedAt} />
      {file !== undefined && (
        <>
          {" from "}
          <button type="button" class="linkish fig" onClick={() => setQuery({ file: 1 })}>
            {file.slice(file.lastIndexOf("/") + 1)}
          </button>
        </>
      )}
    </span>
  );
}

function Options(props: { config: EffectiveConfig; text: string; isAll: boolean }) {
  const { config, text, isAll } = props;
  const found = matchingOptions(config.options, text);
  const shown = isAll || text !== "" ? found : found.filter(({ isDefault }) => !isDefault);
  const hidden = found.length - shown.length;
  if (found.length === 0)
    return (
      <Blank
        title={`No option matches “${text}”.`}
        acts={<Button onClick={() => setQuery({ find: undefined }, { replace: true })}>Show all</Button>}
      />
    );
  return (
    <>
      {shown.length === 0 ? (
        <Blank title="weir runs on its defaults.">
          {config.file === undefined
            ? "It found no weir.yaml. “weir config init” writes one with every option commented out."
            : "Its file sets nothing that differs from them."}
        </Blank>
      ) : (
        <OptionTable options={shown} />
      )}
      {(hidden > 0 || (isAll && text === "")) && (
        <div class="more">
          <Button onClick={() => setQuery({ all: isAll ? undefined : 1 }, { replace: true })}>
            {isAll ? "Only what is set" : `Show ${counted(hidden, "option")} with the default`}
          </Button>
        </div>
      )}
    </>
  );
}
