/*
 * replay.c
 *		The inputs of the fuzzer once more, where there is no libFuzzer: the files
 *		that the arguments name.  See scripts/s390x.
 */
#include <stdint.h>
#include <stdio.h>

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
	{
		/* scripts/fuzz lets none be longer than 256 octets */
		uint8_t		data[4096];
		FILE	   *file = fopen(argv[i], "rb");
		size_t		size;

		if (file == NULL)
		{
			perror(argv[i]);
			return 1;
		}
		size = fread(data, 1, sizeof(data), file);
		fclose(file);
		LLVMFuzzerTestOneInput(data, size);
	}
	printf("%d inputs\n", argc - 1);
	return argc < 2;
}
