import { Kbd, Text } from "@mantine/core";
import { Dialog } from "../dialog.tsx";
import type { KeyUse } from "./key-use.ts";

export default function KeyHelp({ uses, onClose }: { readonly uses: readonly KeyUse[]; readonly onClose: () => void }) {
  const all = [...uses, { key: "?", does: "Show this list" }];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} size="md">
      <dl className="facts keys">
        {all.map(({ key, does }) => (
          <div key={`${key} ${does}`} style={{ display: "contents" }}>
            <dt>
              {key.split(" ").map((each) => (
                <Kbd key={each} mr={4}>
                  {each}
                </Kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <Text size="sm" c="dimmed" mt="md">
        They do not work while you type in a field.
      </Text>
    </Dialog>
  );
}
