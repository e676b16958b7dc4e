-- CreateTable
CREATE TABLE "vrp_configurations" (
    "application_id" UUID NOT NULL,
    "configuration" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "vrp_configurations_pkey" PRIMARY KEY ("application_id")
);

-- AddForeignKey
ALTER TABLE "vrp_configurations" ADD CONSTRAINT "vrp_configurations_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Visible to its own application and, through its scope, to the root above it.
SELECT protect_tenant_table('vrp_configurations'::regclass, 'application_id = ANY ((SELECT scope_application_ids())::uuid[])');
