/** The end of a list of which a part is shown. */
import { counted } from "../numbers/counts.ts";
import { Button } from "./controls.tsx";

/** The most that the admin API lists at once. */
const MOST = 500;

/** @param props.limit of the request: it is doubled */
export function LoadMore(props: {
  limit: number;
  next: string | undefined;
  onLimit: (limit: number) => void;
}) {
  const { limit, next, onLimit } = props;
  if (next === undefined) return null;
  return (
    <div class="more">
      {limit < MOST ? (
        <Button onClick={() => onLimit(Math.min(MOST, limit * 2))}>Show more</Button>
      ) : (
        `The first ${counted(MOST, "entry", "entries")}.`
      )}
    </div>
  );
}
