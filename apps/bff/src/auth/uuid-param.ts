import { Injectable, type PipeTransform } from '@nestjs/common';
import { problems } from '#libs/contract';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An id in a path. Whatever is no UUID names nothing here, so it is as unknown as a foreign one. */
@Injectable()
export class UuidParam implements PipeTransform<string, string> {
  transform(value: string): string {
    if (form.test(value)) return value.toLowerCase();
    throw problems.notFound({ message: 'Nothing here has this id' });
  }
}
