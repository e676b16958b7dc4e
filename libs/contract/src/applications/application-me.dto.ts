import { DateTime, Flag, Nested, Text, Uuid } from '../field.js';
import { Institution, Media } from '../institutions/institution.dto.js';

/** What the deprecated `/me` says of the application whose credentials were sent. */
export class Application {
  @Uuid({ always: true }) uuid!: string;
  @Text({ always: true }) name!: string;
  @Flag({ always: true }) active!: boolean;
  @Text({ always: true, array: true }) authCallbacks!: string[];
  @Nested(() => Institution, { always: true, array: { unique: true } }) institutions!: Institution[];
  @Nested(() => Media, { always: true, array: { unique: true } }) media!: Media[];
  @DateTime({ always: true }) created!: string;
  @DateTime({ always: true }) updated!: string;
}
