/** A call beside the list, or instead of it where there is no room. */
import type { getCall } from "../../data/types.ts";
import { hrefOf } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { whole } from "../../numbers/counts.ts";
import { Button } from "../../parts/controls.tsx";
import { Icon } from "../../parts/icons.tsx";
import { CallDetail } from "./call-detail.tsx";
import { CallReading } from "./call-page.tsx";

export function Peek(props: {
  id: string;
  /** Place in the list, from 1. */
  position: number | undefined;
  total: number | undefined;
  onStep: (by: number) => void;
  onClose: () => void;
}) {
  const { id, position, total, onStep, onClose } = props;
  const call = useApi<typeof getCall>(`/calls/${encodeURIComponent(id)}`);
  return (
    <section class="panel peek" aria-label={`Call ${id}`} aria-busy={call.busy}>
      <header>
        <Button kind="quiet" icon="close" aria-label="Close, Escape" onClick={onClose} />
        <code class="clip">{id}</code>
        <div class="right">
          {position !== undefined && (
            <span class="dim nowrap">
              {whole(position)} of {total === undefined ? "…" : whole(Math.max(total, position))}
            </span>
          )}
          <Button kind="quiet" icon="up" aria-label="Call above, k" onClick={() => onStep(-1)} />
          <Button kind="quiet" icon="down" aria-label="Call below, j" onClick={() => onStep(1)} />
          <a
            class="btn quiet icon"
            href={hrefOf(`/calls/${id}`)}
            aria-label="As a page, o"
            title="As a page, o"
          >
            <Icon name="wide" />
          </a>
        </div>
      </header>
      <CallReading of={call} id={id}>
        {(data) => <CallDetail call={data} wide={false} />}
      </CallReading>
    </section>
  );
}
