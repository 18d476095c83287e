import { Anchor, Button, Group, Stack, Tabs, Text } from "@mantine/core";
import type { MadeToken } from "../../../src/contract/console.ts";
import { CopyText } from "../../shared/copy-text.tsx";
import { Dialog } from "../../shared/dialog.tsx";
import { scopeInWords } from "./scope-in-words.ts";
import { snippetsFor } from "./token-snippets.ts";

/** The token is shown only here, so the dialog stays until it is closed on purpose. */
export function TokenMade({ made, onClose }: { readonly made: MadeToken; readonly onClose: () => void }) {
  const { token, secret } = made;
  const snippets = snippetsFor(location.origin, secret, token.scope);
  return (
    <Dialog title={`Token for “${token.name}”`} onClose={onClose} size="xl" stays>
      <Stack gap="sm">
        <Text size="sm">
          It {scopeInWords(token.scope)}. <b>Copy it now. It is shown only once.</b>
        </Text>
        <CopyText text={secret} label="token" />
        <Tabs defaultValue={snippets[0]?.name ?? "curl"}>
          <Tabs.List aria-label="Snippets to paste">
            {snippets.map(({ name }) => (
              <Tabs.Tab key={name} value={name}>
                {name}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {snippets.map(({ name, about, text }) => (
            <Tabs.Panel key={name} value={name} pt="xs">
              <Text size="xs" c="dimmed" mb={4}>
                {about}
              </Text>
              <CopyText text={text} label={`${name} snippet`} block />
            </Tabs.Panel>
          ))}
        </Tabs>
        <Group justify="space-between">
          <Anchor href="/console/ca.pem" download="moor-ca.pem" size="sm">
            Download the service’s certificate (moor-ca.pem)
          </Anchor>
          <Button onClick={onClose}>I have copied it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
