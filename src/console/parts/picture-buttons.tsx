/** Saves the page as a picture. */
import { moment } from "../numbers/times.ts";
import { saveFile } from "../pages/calls/csv.ts";
import { Button } from "./controls.tsx";
import { pictureOf, pngOf, textOf } from "./picture.ts";
import { toast } from "./toasts.tsx";

/** @param props.name of the file, and the first words of the picture */
export function PictureButtons({ name }: { name: string }) {
  const save = async (type: "svg" | "png") => {
    const picture = pictureOf(
      document.getElementById("main")!,
      `${name} · weir ${location.host} · ${moment(Date.now())}`,
    );
    try {
      const file =
        type === "svg" ? new Blob([textOf(picture)], { type: "image/svg+xml" }) : await pngOf(picture);
      saveFile(file, `${name.toLowerCase().replace(/\W+/g, "-")}.${type}`);
    } catch {
      toast("The browser could not draw the picture.");
    }
  };
  return (
    <>
      {(["svg", "png"] as const).map((type) => (
        <Button
          key={type}
          kind="quiet"
          class="w3"
          title="Save a picture of this page"
          onClick={() => void save(type)}
        >
          {type.toUpperCase()}
        </Button>
      ))}
    </>
  );
}
