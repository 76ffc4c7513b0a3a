-- NULL in, NULL out, in every argument of every function; none is called, except
-- the bounds of one side, where a time that is NULL is no bound.
\pset null NULL

SELECT public.uuidv3(NULL, 'name'), public.uuidv3(public.nil_uuid(), NULL::text), public.uuidv3(public.nil_uuid(), NULL::bytea);
SELECT public.uuidv5(NULL, 'name'), public.uuidv5(public.nil_uuid(), NULL::text), public.uuidv5(public.nil_uuid(), NULL::bytea);
SELECT public.uuidv7(NULL);
SELECT public.uuidv8_name(NULL, 'name'), public.uuidv8_name(public.nil_uuid(), NULL::text), public.uuidv8_name(public.nil_uuid(), 'name'::text, NULL);
SELECT public.uuidv8_name(NULL, 'name'::bytea), public.uuidv8_name(public.nil_uuid(), NULL::bytea), public.uuidv8_name(public.nil_uuid(), 'name'::bytea, NULL);
SELECT public.uuidv8_custom(NULL, 0, 0), public.uuidv8_custom(0, NULL, 0), public.uuidv8_custom(0, 0, NULL), public.uuidv8_custom(NULL::bytea);
SELECT public.uuidv8_node(NULL), public.uuidv8_node_id(NULL);
SELECT public.uuid_extract_version(NULL), public.uuid_extract_timestamp(NULL), public.uuid_extract_variant(NULL);
SELECT public.uuid_extract_clock_seq(NULL), public.uuid_extract_node(NULL);
SELECT public.uuidv1_timestamp(NULL), public.uuidv6_timestamp(NULL), public.uuidv7_timestamp(NULL), public.uuidv7_timestamp_micros(NULL), public.uuidv8_timestamp(NULL);
SELECT * FROM public.uuid_inspect(NULL);
SELECT public.uuidv1_to_v6(NULL), public.uuidv6_to_v1(NULL);
SELECT public.uuid_to_urn(NULL), public.uuid_from_urn(NULL);
SELECT public.uuid_namespace(NULL);
SELECT public.uuidv6_at(NULL), public.uuidv6_floor(NULL), public.uuidv6_ceil(NULL);
SELECT public.uuidv7_at(NULL), public.uuidv7_floor(NULL), public.uuidv7_ceil(NULL);
SELECT public.uuidv8_node_at(NULL), public.uuidv8_node_at(NULL, 1), public.uuidv8_node_at(now(), NULL), public.uuidv8_node_floor(NULL), public.uuidv8_node_ceil(NULL);
SELECT public.uuidv8_node_timestamp(NULL), public.uuidv8_node_timestamp_micros(NULL), public.uuidv8_node_timestamp_from_text(NULL);
SELECT public.uuid_is_v8(NULL), public.uuidv8_node_lower_bound(NULL), public.uuidv8_node_upper_bound(NULL);
SELECT public.uuidv8_node_within(NULL, '(,)'), public.uuidv8_node_within(public.nil_uuid(), NULL);
SELECT public.uuid_to_base32hex(NULL), public.uuid_from_base32hex(NULL), public.uuid_least(NULL, NULL), public.uuid_greatest(NULL, NULL);
SELECT public.uuidv6_timestamp_from_text(NULL), public.uuidv7_timestamp_from_text(NULL);
SELECT public.uuid_is_v6(NULL), public.uuid_is_v7(NULL);
SELECT public.uuidv6_lower_bound(NULL), public.uuidv6_upper_bound(NULL), public.uuidv7_lower_bound(NULL), public.uuidv7_upper_bound(NULL);
SELECT public.uuidv7_lower_bound(NULL, true), public.uuidv7_lower_bound(NULL, false), public.uuidv7_lower_bound(now(), NULL);
SELECT public.uuidv7_upper_bound(NULL, true), public.uuidv7_upper_bound(NULL, false), public.uuidv7_upper_bound(now(), NULL);
SELECT public.uuidv6_lower_bound(NULL, true), public.uuidv6_upper_bound(NULL, true), public.uuidv6_lower_bound(now(), NULL), public.uuidv6_upper_bound(now(), NULL);
SELECT public.uuidv8_node_lower_bound(NULL, true), public.uuidv8_node_upper_bound(NULL, true), public.uuidv8_node_lower_bound(now(), NULL), public.uuidv8_node_upper_bound(now(), NULL);
SELECT public.uuidv6_within(NULL, '(,)'), public.uuidv6_within(public.nil_uuid(), NULL);
SELECT public.uuidv7_within(NULL, '(,)'), public.uuidv7_within(public.nil_uuid(), NULL);
SELECT public.uuidv7_contained_by_period(NULL, '(,)'), public.uuidv7_contained_by_period(public.nil_uuid(), NULL);
SELECT public.period_contains_uuidv7('(,)', NULL), public.period_contains_uuidv7(NULL, public.nil_uuid());
SELECT NULL::uuid <@ '(,)', public.nil_uuid() <@ NULL, '(,)' @> NULL::uuid, NULL @> public.nil_uuid();
