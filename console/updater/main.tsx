import { mount } from "../shared/mount.tsx";

mount(<p>Soon.</p>);
