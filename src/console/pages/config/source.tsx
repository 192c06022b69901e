/** A file of the config as it is on the disk, at one line. */
import type { getConfigSource } from "../../data/types.ts";
import { useEffect, useRef } from "preact/hooks";
import { setQuery } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { Button } from "../../parts/controls.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Loaded } from "../../parts/states.tsx";
import { lineOf } from "./options.ts";

/** @param place `conf.d/keys.yaml:7`; without a file that is shown, it is in the first one */
export function SourcePanel({ place }: { place: string }) {
  const source = useApi<typeof getConfigSource>("/config/source");
  const shown = source.data?.included.find(({ file }) => place.startsWith(`${file}:`)) ?? source.data;
  return (
    <Panel
      title={shown?.file ?? "weir.yaml"}
      right={
        <Button
          kind="quiet"
          icon="close"
          aria-label="Close the file"
          onClick={() => setQuery({ file: undefined })}
        />
      }
    >
      <Loaded of={source} what="The file">
        {() => <Lines text={shown?.text ?? ""} line={lineOf(place)} />}
      </Loaded>
    </Panel>
  );
}

function Lines({ text, line }: { text: string; line: number | undefined }) {
  const marked = useRef<HTMLSpanElement>(null);
  useEffect(() => marked.current?.scrollIntoView({ block: "center" }), [line]);
  return (
    <pre class="code source" tabIndex={0} aria-label="weir.yaml">
      {text.split("\n").map((content, at) => (
        <span key={at} class={at + 1 === line ? "here" : ""} ref={at + 1 === line ? marked : null}>
          <span class="p">{String(at + 1).padStart(4)} </span>
          {content}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
