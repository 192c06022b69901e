/** The file of the config as it is on the disk, at one line. */
import { useEffect, useRef } from "preact/hooks";
import { setQuery } from "../../data/location.ts";
import type { ConfigSource } from "../../data/types.ts";
import { useApi } from "../../data/use-api.ts";
import { Button } from "../../parts/controls.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Loaded } from "../../parts/states.tsx";

export function SourcePanel({ line }: { line: number | undefined }) {
  const source = useApi<ConfigSource>("/config/source");
  return (
    <Panel
      title={source.data?.file ?? "weir.yaml"}
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
        {({ text }) => <Lines text={text} line={line} />}
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
        <span key={at} class={at + 1 === line ? "here" : ""} {...(at + 1 === line && { ref: marked })}>
          <span class="p">{String(at + 1).padStart(4)} </span>
          {content}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
