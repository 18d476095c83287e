import { Button, List, Paper, Stack, Text, Title } from "@mantine/core";
import { useSearchPart } from "../../shared/search-part.ts";

/** Shown to a user who has no zone yet. */
export function FirstSteps() {
  const { open } = useSearchPart();
  return (
    <Paper withBorder p="lg" maw="42rem" mx="auto" mt="lg">
      <Stack gap="md">
        <Title order={1}>Create your first zone</Title>
        <Text>
          A zone is a domain name with everything below it. Three steps lead to a name that follows a changing address:
        </Text>
        <List type="ordered" spacing="sm">
          <List.Item>
            <b>Create a zone</b>, for example <code>example.org</code>. If you have its records in a zone file, paste
            them in.
          </List.Item>
          <List.Item>
            <b>Choose a name in it</b>, for example <code>home</code>, and the device that knows your address: a
            FRITZ!Box, another router, ddclient or moor.
          </List.Item>
          <List.Item>
            <b>Copy the settings</b> to the device. The page shows them with a token for exactly this name, and its
            first update as it arrives.
          </List.Item>
        </List>
        <div>
          <Button onClick={() => open({ new: "" })}>Create a zone</Button>
        </div>
      </Stack>
    </Paper>
  );
}
