import { mount } from "../shared/mount.tsx";
import { App } from "./app.tsx";

mount(<App />);
