-- CreateTable
CREATE TABLE "renewal_links" (
    "id" UUID NOT NULL,
    "connection_id" UUID NOT NULL,
    "token_hash" TEXT NOT NULL,
    "return_url" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "renewal_links_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "renewal_links_token_hash_key" ON "renewal_links"("token_hash");

-- CreateIndex
CREATE INDEX "renewal_links_connection_id_idx" ON "renewal_links"("connection_id");

-- CreateIndex
CREATE INDEX "renewal_links_expires_at_idx" ON "renewal_links"("expires_at");

-- AddForeignKey
ALTER TABLE "renewal_links" ADD CONSTRAINT "renewal_links_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;
