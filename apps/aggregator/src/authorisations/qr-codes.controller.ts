import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Integer, problems } from '#libs/contract';
import { ErrorShape } from '#libs/server';
import { readUuid } from '../auth/read-uuid.js';
import { Public } from '../auth/tenant.js';
import { QrCodes } from './qr-codes.service.js';

const HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' };

class QrCodeQuery {
  /** Width in pixels; 0 is as wide as the code needs. */
  @Integer({ optional: true, query: true, min: 0, max: 2_000 }) size?: number;
}

/** What stands behind `qrCodeUrl`. Cameras and image elements have no credentials, so the routes are public. */
@ApiExcludeController()
@ErrorShape('minimal')
@Public()
@Controller('qr-codes')
export class QrCodesController {
  constructor(private readonly codes: QrCodes) {}

  @Get(':id/image')
  async image(@Param('id') id: string, @Query() { size = 0 }: QrCodeQuery, @Res() reply: FastifyReply): Promise<void> {
    const image = await this.codes.image(readUuid('id', id), size);
    if (image === undefined) throw gone();
    await reply
      .status(200)
      .headers({ ...HEADERS, 'content-type': 'image/png' })
      .send(image);
  }

  @Get(':id')
  async follow(@Param('id') id: string, @Res() reply: FastifyReply): Promise<void> {
    const target = await this.codes.target(readUuid('id', id));
    if (target === undefined) throw gone();
    await reply
      .status(303)
      .headers({ ...HEADERS, location: target })
      .send();
  }
}

function gone(): Error {
  return problems.notFound({ parameter: 'id', message: 'This code belongs to no open authorisation' });
}
